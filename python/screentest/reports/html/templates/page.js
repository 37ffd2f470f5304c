"use strict";
document.documentElement.classList.add("live");

// A value under the pointer or the arrow keys, on every chart of the page at once.
const charts = [...document.querySelectorAll(".chart[data-series]")].map((figure) => ({
  figure,
  data: JSON.parse(figure.dataset.series),
  svg: figure.querySelector("svg"),
  cursor: figure.querySelector(".cursor"),
  output: figure.querySelector("output"),
}));
let at = null;
const point = (share) => {
  at = share;
  for (const { figure, data, svg, cursor, output } of charts) {
    const count = data.f.length;
    const index = Math.min(count - 1, Math.max(0, Math.floor(share * count)));
    const box = svg.viewBox.baseVal;
    const x = ((index + 0.5) / count) * box.width;
    cursor.setAttribute("d", `M${x.toFixed(1)},0V${box.height}`);
    const [first, last, value] = [data.f[index], data.l[index], data.v[index]];
    const frames = first === last ? `frame ${first}` : `frames ${first}–${last}`;
    const bare = value === null || value === "identical" || !figure.dataset.unit;
    const unit = bare ? "" : ` ${figure.dataset.unit}`;
    output.textContent = `${frames}: ${value === null ? "no value" : value}${unit}`;
  }
};
const clear = () => {
  at = null;
  for (const { cursor, output } of charts) {
    cursor.setAttribute("d", "");
    output.textContent = "";
  }
};
for (const { figure, data, svg } of charts) {
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    point((event.clientX - box.left) / box.width);
  });
  svg.addEventListener("pointerleave", clear);
  figure.addEventListener("blur", clear);
  figure.addEventListener("keydown", (event) => {
    const count = data.f.length;
    const now = at === null ? 0 : Math.floor(at * count);
    const steps = { ArrowLeft: now - 1, ArrowRight: at === null ? 0 : now + 1, Home: 0, End: count - 1 };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    point((Math.min(count - 1, Math.max(0, next)) + 0.5) / count);
  });
}

// Pictures enlarged in their place, so that flipping between them shows what differs.
const viewer = document.getElementById("viewer");
const large = viewer.querySelector("img");
const caption = viewer.querySelector("figcaption");
let set = [];
let chosen = 0;
const show = (index) => {
  chosen = (index + set.length) % set.length;
  large.src = set[chosen].src;
  large.alt = set[chosen].alt;
  caption.textContent = set[chosen].alt;
};
for (const frames of document.querySelectorAll(".frames")) {
  const pictures = [...frames.querySelectorAll("img")];
  pictures.forEach((picture, index) => {
    picture.tabIndex = 0;
    picture.setAttribute("role", "button");
    picture.setAttribute("aria-label", `Enlarge: ${picture.alt}`);
    const open = () => {
      set = pictures;
      show(index);
      viewer.showModal();
    };
    picture.addEventListener("click", open);
    picture.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
  });
}
viewer.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") show(chosen + 1);
  if (event.key === "ArrowLeft") show(chosen - 1);
});
viewer.addEventListener("click", (event) => {
  if (event.target === viewer) viewer.close();
  else if (event.target === large) show(chosen + 1);
});

// The samples: sorted, filtered, and shown in leaves, so that ten thousand stay quick.
const data = document.getElementById("data");
if (data) {
  const rows = JSON.parse(data.textContent);
  const LEAF = 100;
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const form = document.getElementById("filters");
  const [back, on] = [document.getElementById("back"), document.getElementById("on")];
  const names = { group: 0, key: 1, state: 2, note: 3 };
  const words = new Intl.Collator("en", { numeric: true });
  let order = null;
  let kept = rows;
  let leaf = 0;

  const cell = (tag, text, name) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const draw = () => {
    const leaves = Math.max(1, Math.ceil(kept.length / LEAF));
    leaf = Math.min(leaf, leaves - 1);
    const start = leaf * LEAF;
    body.replaceChildren(
      ...kept.slice(start, start + LEAF).map(([group, key, state, note, cells]) => {
        const row = document.createElement("tr");
        const head = cell("th", key);
        head.scope = "row";
        row.append(cell("td", group), head, cell("td", state, `state ${state}`));
        row.append(...cells.map((text) => cell("td", text, "n")), cell("td", note, "wrap"));
        return row;
      }),
    );
    document.getElementById("shown").textContent =
      kept.length === rows.length ? `${rows.length} samples` : `${kept.length} of ${rows.length} samples`;
    document.getElementById("leaf").textContent = `${leaf + 1} of ${leaves}`;
    back.disabled = leaf === 0;
    on.disabled = leaf === leaves - 1;
    back.parentElement.hidden = leaves === 1;
  };
  const select = () => {
    const wanted = new FormData(form);
    const text = wanted.get("text").trim().toLowerCase();
    kept = rows.filter(
      ([group, key, state, note]) =>
        (!wanted.get("group") || group === wanted.get("group")) &&
        (!wanted.get("state") || state === wanted.get("state")) &&
        (!text || `${group}/${key} ${note}`.toLowerCase().includes(text)),
    );
    if (order) {
      const { by, sign } = order;
      const column = names[by];
      kept.sort((a, b) => {
        if (column !== undefined) return sign * words.compare(a[column], b[column]);
        const [one, two] = [a[5][by], b[5][by]];
        // Without a number: last, whichever way the rest goes.
        if (one === null || two === null) return (one === null) - (two === null);
        return sign * (one - two);
      });
    }
    draw();
  };
  for (const head of table.tHead.querySelectorAll("th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const by = head.dataset.sort;
      const sign = order && order.by === by ? -order.sign : 1;
      order = { by, sign };
      leaf = 0;
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      select();
    });
  }
  form.addEventListener("input", () => {
    leaf = 0;
    select();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  back.addEventListener("click", () => {
    leaf -= 1;
    draw();
  });
  on.addEventListener("click", () => {
    leaf += 1;
    draw();
  });
  select();
}
