
// The pairs of a gate: sorted, picked, opened, and lit on every axis at once.
const pairs = document.getElementById("pairs");
if (pairs) {
  const form = document.getElementById("pick");
  const heads = [...pairs.tHead.rows[0].cells];
  const words = new Intl.Collator("en", { numeric: true });
  const rows = [...pairs.tBodies].map((body) => ({
    body,
    button: body.querySelector("th button"),
    rank: Number(body.dataset.rank),
    outside: body.classList.contains("outside"),
    text: [...body.querySelectorAll(".find")].map((e) => e.textContent).join("\n").toLowerCase(),
    values: [...body.rows[0].cells].map((cell) => {
      if (cell.dataset.v === undefined) return cell.textContent;
      return cell.dataset.v === "" ? null : Number(cell.dataset.v);
    }),
  }));
  let order = null;

  const arrange = () => {
    const sorted = [...rows].sort((a, b) => {
      if (!order) return a.rank - b.rank;
      const [one, two] = [a.values[order.by], b.values[order.by]];
      // Without a number: last, whichever way the rest goes.
      if (one === null || two === null) return (one === null) - (two === null) || a.rank - b.rank;
      const way = typeof one === "string" ? words.compare(one, two) : one - two;
      return order.sign * way || a.rank - b.rank;
    });
    pairs.append(...sorted.map(({ body }) => body));
    heads.forEach((head, index) => {
      if (order && order.by === index)
        head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  };
  const pick = () => {
    const wanted = new FormData(form);
    const text = wanted.get("text").trim().toLowerCase();
    let kept = 0;
    for (const row of rows) {
      row.body.hidden = (wanted.has("outside") && !row.outside) || !row.text.includes(text);
      kept += !row.body.hidden;
    }
    document.getElementById("picked").textContent =
      kept === rows.length ? `${rows.length} prompts` : `${kept} of ${rows.length} prompts`;
  };
  const toggle = ({ body, button }) => {
    const open = body.classList.toggle("open");
    button.setAttribute("aria-expanded", String(open));
  };
  const light = (prompt) => {
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (prompt === undefined) return;
    for (const mark of document.querySelectorAll(`[data-prompt="${Number(prompt)}"]`)) {
      mark.classList.add("lit");
      // What is lit lies above its neighbours.
      if (mark.matches(".dot")) mark.parentNode.append(mark);
    }
  };

  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      order = { by: index, sign: order && order.by === index ? -order.sign : 1 };
      arrange();
    });
  });
  for (const row of rows) {
    row.button.addEventListener("click", () => toggle(row));
    row.button.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        toggle(row);
        return;
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const shown = [...pairs.tBodies].filter((body) => !body.hidden);
      const next = shown[shown.indexOf(row.body) + step];
      if (next) next.querySelector("th button").focus();
    });
    row.button.addEventListener("focus", () => light(row.body.dataset.prompt));
    row.button.addEventListener("blur", () => light());
    row.body.addEventListener("pointerenter", () => light(row.body.dataset.prompt));
    row.body.addEventListener("pointerleave", () => light());
  }
  for (const axis of document.querySelectorAll(".axis")) {
    const of = (event) => event.target.closest("[data-prompt]");
    axis.addEventListener("pointerover", (event) => light(of(event)?.dataset.prompt));
    axis.addEventListener("pointerleave", () => light());
    axis.addEventListener("click", (event) => {
      const row = rows.find(({ body }) => body.dataset.prompt === of(event)?.dataset.prompt);
      if (!row) return;
      row.body.hidden = false;
      if (!row.body.classList.contains("open")) toggle(row);
      row.button.focus();
      row.body.scrollIntoView({ block: "center" });
    });
  }
  document.getElementById("worst-first").addEventListener("click", () => {
    order = null;
    arrange();
  });
  form.addEventListener("input", pick);
  form.addEventListener("submit", (event) => event.preventDefault());
  pick();
}

// A link into what is folded away opens it; print shows it all.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details");
  if (folded) folded.open = true;
};
addEventListener("hashchange", unfold);
unfold();
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const each of folded) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of folded) each.open = false;
});
