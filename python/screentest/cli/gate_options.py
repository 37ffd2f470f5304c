"""What ``screentest gate`` can be told; ``gate.toml`` has the same keys."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "Budgets",
    "Cache",
    "Candidate",
    "CandidateArm",
    "CandidateExecutionLane",
    "Change",
    "ConfigFile",
    "CrossPod",
    "DryRun",
    "ExecutionLane",
    "Extra",
    "Family",
    "Fps",
    "Frames",
    "Guidance",
    "Hardware",
    "Height",
    "Html",
    "Metrics",
    "Notes",
    "NullControl",
    "Out",
    "Prompts",
    "Purpose",
    "Reference",
    "ReferenceArm",
    "ReferenceExecutionLane",
    "RepeatControl",
    "Seeds",
    "Steps",
    "Waive",
    "Width",
]

NEEDED = "Needed, here or in gate.toml"
JUDGED = "How it is judged"
CONDITIONS = "More of the conditions"
PLACE = "Where they ran"
"""Headings of the help."""

Reference = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR|FILE...", help="The arm that is compared with.", rich_help_panel=NEEDED
    ),
]
Candidate = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR|FILE...", help="The arm in question.", rich_help_panel=NEEDED),
]
Change = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND...",
        help="What differs. After the latent: vae-decode-dtype, vae-decode-tiling, "
        "vae-decode-backend, color-conversion, output-resize, video-encoder, container-mux. "
        "Of the sampling path: repeat, weight-quantization, activation-quantization, "
        "weight-storage-cast, compile, attention-backend, scheduler, step-count, guidance, "
        "lora-attach, lora-fuse, denoiser-dtype, offload-placement, hardware-sku, "
        "model-weights, seed.",
        rich_help_panel=NEEDED,
    ),
]
Family = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model's family, e.g. ltx-2.3.", rich_help_panel=NEEDED),
]
ExecutionLane = Annotated[
    str | None,
    typer.Option(
        metavar="compiled|eager", help="How both arms were executed.", rich_help_panel=NEEDED
    ),
]
ReferenceExecutionLane = Annotated[
    str | None,
    typer.Option(
        metavar="LANE",
        help="How the reference arm was: compiled or eager.",
        rich_help_panel=CONDITIONS,
    ),
]
CandidateExecutionLane = Annotated[
    str | None,
    typer.Option(
        metavar="LANE",
        help="How the candidate arm was: compiled or eager.",
        rich_help_panel=CONDITIONS,
    ),
]
Hardware = Annotated[
    str | None, typer.Option(metavar="NAME", help="What both arms ran on.", rich_help_panel=NEEDED)
]
Steps = Annotated[
    int | None, typer.Option(metavar="N", help="Steps of the sampler.", rich_help_panel=NEEDED)
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N,...",
        help="One for all prompts, or one for each in their order.",
        rich_help_panel=NEEDED,
    ),
]
ConfigFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A gate.toml that holds any of these options, with underscores in their names; "
        "the command line overrides it.",
    ),
]
NullControl = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR|FILE",
        help="Whether the budgets transfer: the reference arm under other seeds, or a sealed "
        "report of it.",
        rich_help_panel=JUDGED,
    ),
]
RepeatControl = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR|FILE",
        help="How large noise is, for paired-fidelity: the reference arm rendered again, or a "
        "sealed report of it.",
        rich_help_panel=JUDGED,
    ),
]
Purpose = Annotated[
    str | None,
    typer.Option(
        metavar="quality|paired-fidelity",
        help="Did it get worse, or how far did matched outputs move?",
        rich_help_panel=JUDGED,
    ),
]
Budgets = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A table instead of the one that ships.", rich_help_panel=JUDGED
    ),
]
Prompts = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="JSON: the prompts in the order of the clips, or by their names; by default the "
        "names.",
        rich_help_panel=CONDITIONS,
    ),
]
CrossPod = Annotated[
    bool | None,
    typer.Option(
        "--cross-pod/--same-pod",
        help="The arms ran on two workers, or on one.",
        rich_help_panel=PLACE,
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        metavar="PX",
        help="Of every clip; by default the first reference's.",
        rich_help_panel=CONDITIONS,
    ),
]
Height = Annotated[
    int | None, typer.Option(metavar="PX", help="The same.", rich_help_panel=CONDITIONS)
]
Frames = Annotated[
    int | None,
    typer.Option(metavar="N", help="The same; 1 for stills.", rich_help_panel=CONDITIONS),
]
Fps = Annotated[
    float | None, typer.Option(metavar="RATE", help="The same.", rich_help_panel=CONDITIONS)
]
Guidance = Annotated[
    float | None, typer.Option(metavar="X", help="Of the sampler.", rich_help_panel=CONDITIONS)
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Where frames are compared: psnr, ssim, ms_ssim, lpips, dists, vmaf.",
        rich_help_panel=JUDGED,
    ),
]
Waive = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BUDGET,...", help="May stay unproven by the null control.", rich_help_panel=JUDGED
    ),
]
ReferenceArm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="What the report calls the reference arm.", rich_help_panel=CONDITIONS
    ),
]
CandidateArm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="What it calls the candidate arm.", rich_help_panel=CONDITIONS
    ),
]
Notes = Annotated[
    str | None, typer.Option(metavar="TEXT", help="For people.", rich_help_panel=CONDITIONS)
]
Extra = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="What else defines the run; may be repeated.",
        rich_help_panel=CONDITIONS,
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Keep facts here; known clips are not decoded again."),
]
DryRun = Annotated[
    bool | None,
    typer.Option("--dry-run", help="Check everything, measure nothing, print the plan."),
]
AsJson = Annotated[
    bool | None, typer.Option("--json", help="The sealed report as one JSON object on stdout.")
]
Out = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the sealed report here."),
]
Html = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a page with the worst prompts.")
]
