"""Reading actions from four formats, and refusing what is none."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.errors import MediaError
from screentest.evaluations.action_files import as_actions, read_actions

VALUES = [[0.0, 1.0, -2.0], [0.5, 0.25, 8.0]]
MASK = [True, False, True]


def write_safetensors(path: Path, tensors: dict[str, tuple[str, list[int], bytes]]) -> Path:
    """By the format's own description: length, JSON header, numbers."""
    header: dict[str, Any] = {"__metadata__": {"made": "by hand"}}
    body = b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def f32(values: Any = VALUES) -> tuple[str, list[int], bytes]:
    array = np.array(values, "<f4")
    return "F32", list(array.shape), array.tobytes()


def write(path: Path, values: Any = VALUES, mask: Any = None) -> Path:
    match path.suffix:
        case ".npy":
            np.save(path, np.array(values))
        case ".npz":
            more = {} if mask is None else {"action_valid_mask": np.array(mask)}
            np.savez(path, action=np.array(values), **more)
        case ".json":
            held = {"action": values, "action_valid_mask": mask}
            path.write_text(json.dumps(values if mask is None else held))
        case _:
            more = {}
            if mask is not None:
                array = np.array(mask, bool)
                more = {"action_valid_mask": ("BOOL", list(array.shape), array.tobytes())}
            write_safetensors(path, {"action": f32(values), **more})
    return path


FORMATS = [".npy", ".npz", ".json", ".safetensors"]


@pytest.mark.parametrize("extension", FORMATS)
def test_values_come_back_from_every_format(tmp_path: Path, extension: str) -> None:
    actions = read_actions(write(tmp_path / f"a{extension}"))
    assert actions.values.tolist() == VALUES
    assert actions.values.dtype == np.float64
    assert actions.mask is None


@pytest.mark.parametrize("extension", FORMATS[1:])
def test_the_mask_comes_with_them(tmp_path: Path, extension: str) -> None:
    actions = read_actions(write(tmp_path / f"a{extension}", mask=MASK))
    assert actions.mask is not None
    assert actions.mask.tolist() == MASK
    assert actions.values.tolist() == VALUES


def test_every_type_of_number_in_safetensors(tmp_path: Path) -> None:
    for name, dtype in [("F16", "<f2"), ("F64", "<f8"), ("I32", "<i4"), ("U8", "u1")]:
        data = np.array([[1, 2], [3, 4]], dtype).tobytes()
        path = write_safetensors(tmp_path / f"{name}.safetensors", {"x": (name, [2, 2], data)})
        assert read_actions(path).values.tolist() == [[1, 2], [3, 4]]


def test_bfloat16_is_the_upper_half_of_a_float32(tmp_path: Path) -> None:
    # 1.5 is 0x3FC0, -2 is 0xC000.
    path = write_safetensors(
        tmp_path / "a.safetensors", {"x": ("BF16", [1, 2], struct.pack("<HH", 0x3FC0, 0xC000))}
    )
    assert read_actions(path).values.tolist() == [[1.5, -2.0]]


def test_an_array_of_another_name_is_taken_if_it_is_the_only_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", pred=np.array(VALUES))
    assert read_actions(tmp_path / "a.npz").values.tolist() == VALUES
    np.savez(tmp_path / "b.npz", pred=np.array(VALUES), true=np.array(VALUES))
    with pytest.raises(MediaError, match="pred, true"):
        read_actions(tmp_path / "b.npz")
    (tmp_path / "c.json").write_text('{"actions": [[1, 2]], "note": "x"}')
    assert read_actions(tmp_path / "c.json").values.tolist() == [[1, 2]]


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    np.save(tmp_path / "a.npy", np.array([Trap()], object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "c.npz").write_bytes(pickle.dumps(Trap()))
    for name in ("a.npy", "b.npy", "c.npz"):
        with pytest.raises(MediaError) as refused:
            read_actions(tmp_path / name)
        assert refused.value.code == "unreadable_actions"
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("extension", FORMATS)
def test_a_file_cut_anywhere_is_a_media_error(tmp_path: Path, extension: str) -> None:
    whole = write(tmp_path / f"a{extension}", mask=None).read_bytes()
    path = tmp_path / f"cut{extension}"
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(MediaError):
            read_actions(path)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (b'{"x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 99]}}', b"\0" * 16),
        (b'{"x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 0]}}', b"\0" * 16),
        (b'{"x": {"dtype": "F32", "shape": [2, -2], "data_offsets": [0, 16]}}', b"\0" * 16),
        (b'{"x": {"dtype": "F8_E4M3", "shape": [2, 2], "data_offsets": [0, 4]}}', b"\0" * 4),
        (b'{"x": {"shape": [2, 2]}}', b""),
        (b"[]", b""),
        (b"{}", b""),
    ],
)
def test_a_safetensors_header_that_lies_is_a_media_error(
    tmp_path: Path, header: bytes, body: bytes
) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + body)
    with pytest.raises(MediaError):
        read_actions(path)


def test_a_length_beyond_the_file_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 2**63) + b"{}")
    with pytest.raises(MediaError, match="cut off"):
        read_actions(path)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1.0, 2.0], "bad_shape"),
        ([[[1.0]]], "bad_shape"),
        ([], "bad_shape"),
        ([[]], "bad_shape"),
        ([[1.0], [1.0, 2.0]], "bad_actions"),
        ([["a"]], "bad_actions"),
        ([[None]], "bad_actions"),
        ([[True]], "bad_actions"),
        ({"x": 1}, "bad_actions"),
    ],
)
def test_what_is_not_rows_of_numbers_is_refused(values: Any, code: str) -> None:
    with pytest.raises(MediaError) as refused:
        as_actions(values, None, where="here")
    assert refused.value.code == code
    assert refused.value.message.startswith("here: ")


@pytest.mark.parametrize("mask", [[0.5, 1], ["a", "b"], [[1], [1, 0]], [2, 0], [float("nan"), 1]])
def test_a_mask_of_something_else_than_yes_and_no_is_refused(mask: Any) -> None:
    with pytest.raises(MediaError) as refused:
        as_actions([[1, 2]], mask, where="here")
    assert refused.value.code == "bad_mask"


def test_another_extension_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2")
    with pytest.raises(MediaError, match=r"\.npy, \.npz, \.json, \.safetensors"):
        read_actions(tmp_path / "a.csv")
    (tmp_path / "b.npy").mkdir()
    with pytest.raises(MediaError, match="folder"):
        read_actions(tmp_path / "b.npy")


def test_a_file_that_is_not_there_stays_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_actions(tmp_path / "a.npy")
