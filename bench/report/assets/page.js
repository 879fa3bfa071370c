"use strict";

// -- tables that can be sorted ---------------------------------------------------------------

function value(row, at) {
  const cell = row.cells[at];
  const key = cell.dataset.k;
  const text = cell.textContent;
  return { key: key === undefined ? null : Number(key), text, empty: text === "" || text === "–" };
}

function compare(a, b) {
  if (a.key !== null && b.key !== null) return a.key - b.key;
  if (a.key !== null || b.key !== null) return a.key !== null ? -1 : 1;
  return a.text.localeCompare(b.text, "en");
}

function sortBy(table, at) {
  const head = table.tHead.rows[0].cells;
  const down = head[at].getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [value(row, at), row]);
  rows.sort(([a], [b]) => {
    if (a.empty || b.empty) return Number(a.empty) - Number(b.empty);
    return down ? compare(b, a) : compare(a, b);
  });
  for (const cell of head) cell.removeAttribute("aria-sort");
  head[at].setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows.map(([, row]) => row));
  const name = head[at].textContent.trim();
  const how = down ? "descending" : "ascending";
  document.getElementById("sorted").textContent = `Sorted by ${name}, ${how}.`;
}

for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((cell, at) => {
    const button = cell.querySelector("button");
    if (button) button.addEventListener("click", () => sortBy(table, at));
  });
}

// -- print: what is folded is unfolded -------------------------------------------------------

let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = Array.from(document.querySelectorAll("details:not([open])"));
  for (const each of unfolded) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of unfolded) each.open = false;
});

// -- the window, turn by turn ----------------------------------------------------------------

const store = document.getElementById("windows");
if (store) showWindows(JSON.parse(store.textContent));

function showWindows(data) {
  const by = (id) => document.getElementById(`w-${id}`);
  const [policy, slider, number] = [by("policy"), by("turn"), by("number")];
  let run, at, state;

  // The state of a run behind its turn at a place, from the changes up to it.
  function begin() {
    return { place: -1, order: [], size: new Map(), score: new Map(), why: new Map() };
  }

  function step(state, turn) {
    const gone = new Set(turn.out || []);
    if (gone.size) state.order = state.order.filter((each) => !gone.has(each));
    for (const [segment, text] of turn.why || []) state.why.set(segment, text);
    for (const [place, segment] of turn.in || []) {
      state.order.splice(place, 0, segment);
      state.why.delete(segment);
    }
    for (const [segment, tokens] of turn.size || []) state.size.set(segment, tokens);
    for (const [segment, score, of] of turn.score || []) state.score.set(segment, [score, of]);
    state.place += 1;
  }

  function go(place) {
    if (!state || state.place > place) state = begin();
    while (state.place < place) step(state, run.turns[state.place + 1]);
    at = place;
    draw();
  }

  function salience(segment) {
    const [score, of] = state.score.get(segment) || [0, 0];
    return score * run.decay ** Math.max(0, run.turns[at].turn - of);
  }

  const shortly = (s) => (s === 0 ? "0" : s >= 0.1 ? s.toFixed(2) : s >= 0.001 ? s.toPrecision(2) : "< 0.001");
  const whole = (n) => n.toLocaleString("en-US");
  const count = (n, one, many) => `${whole(n)} ${n === 1 ? one : many}`;

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function draw() {
    const turn = run.turns[at];
    const last = run.turns.length;
    slider.value = at + 1;
    slider.setAttribute("aria-valuetext", `turn ${turn.turn}`);
    number.textContent = `${whole(turn.turn)} of ${whole(run.turns[last - 1].turn)}`;
    by("back").disabled = at === 0;
    by("on").disabled = at === last - 1;
    const share = Math.round((100 * turn.tokens) / run.budget);
    const wrong = (turn.said || []).filter((each) => each[3]);
    const parts = [
      `Turn ${whole(turn.turn)}: ${count(state.order.length, "segment", "segments")}, ` +
        `${whole(turn.tokens)} tokens, ${share} % of the budget of ${whole(run.budget)}`,
      `${count((turn.out || []).length, "segment", "segments")} left and ${whole((turn.in || []).length)} came`,
    ];
    if (turn.said) parts.push(`${count(turn.said.length, "answer or act", "answers and acts")}, ${whole(wrong.length)} wrong`);
    if (run.ended && at === last - 1) parts.push(`the run failed here: ${run.ended}`);
    by("said").textContent = `${parts.join("; ")}.`;
    drawBar(turn);
    drawDid(turn);
    drawTables();
  }

  function drawBar(turn) {
    const come = new Set((turn.in || []).map((each) => each[1]));
    const room = Math.max(run.budget, turn.tokens);
    const sums = new Array(data.layers.length).fill(0);
    const spans = state.order.map((segment) => {
      const [name, kind, layer, pinned] = data.segments[segment];
      const tokens = state.size.get(segment) || 0;
      sums[layer] += tokens;
      const span = element("span", undefined, `k${layer}`);
      if (come.has(segment)) span.classList.add("new");
      if (pinned) span.classList.add("pinned");
      if (tokens / room > 0.004) span.classList.add("wide");
      span.style.width = `${(100 * tokens) / room}%`;
      span.title = `${name}: ${kind}, ${whole(tokens)} tokens`;
      return span;
    });
    by("bar").replaceChildren(...spans);
    const shown = data.layers.map((layer, place) => [layer, sums[place], place]).filter((each) => each[1]);
    const words = shown.map(([layer, tokens]) => `${layer} ${whole(tokens)}`);
    by("bar").setAttribute("aria-label", `The window in its order, tokens by kind: ${words.join(", ")}.`);
    const items = shown.map(([layer, tokens, place]) => {
      const item = element("li");
      item.append(element("span", undefined, `k${place}`), `${layer} ${whole(tokens)}`);
      return item;
    });
    items.push(element("li", "bar above: new in this turn; bar below: pinned; hatched: free"));
    by("legend").replaceChildren(...items);
  }

  function drawDid(turn) {
    const found = [];
    if (turn.said) {
      found.push(element("h3", "Answers and acts of this turn"));
      const list = element("ul");
      for (const [name, outcome, answer, wrong] of turn.said) {
        const item = element("li", undefined, wrong ? "wrongly" : "");
        item.textContent = `${name}: ${outcome}${answer ? `, “${answer}”` : ""}`;
        list.append(item);
      }
      found.push(list);
    }
    if (turn.did) {
      found.push(element("h3", "What happened in this turn"));
      const list = element("ul");
      for (const [segment, text] of turn.did) {
        const name = segment === null ? "" : `${data.segments[segment][0]}: `;
        list.append(element("li", `${name}${data.texts[text]}`));
      }
      found.push(list);
    }
    by("did").replaceChildren(...found);
  }

  function row(cells) {
    const made = element("tr");
    for (const [text, kind] of cells) made.append(element("td", text, kind));
    return made;
  }

  function drawTables() {
    const wanted = by("find").value.trim().toLowerCase();
    const meant = (segment) => data.segments[segment][0].toLowerCase().includes(wanted);
    const inside = [];
    state.order.forEach((segment, place) => {
      if (!meant(segment)) return;
      const [name, kind, , pinned] = data.segments[segment];
      const tokens = whole(state.size.get(segment) || 0);
      inside.push(row([[place, "n"], [name], [pinned ? `${kind}, pinned` : kind], [tokens, "n"], [shortly(salience(segment)), "n"]]));
    });
    const absent = Array.from(state.why).filter(([segment]) => meant(segment));
    const ranked = absent.map(([segment, text]) => [salience(segment), segment, text]);
    ranked.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const outside = ranked.map(([s, segment, text]) => {
      const [name, kind] = data.segments[segment];
      return row([[name], [kind], [shortly(s), "n"], [data.texts[text]]]);
    });
    by("in").replaceChildren(...inside);
    by("out").replaceChildren(...outside);
    by("in-h").textContent = `In the window: ${whole(inside.length)}`;
    by("out-h").textContent = `Not in the window: ${whole(outside.length)}, the most salient first`;
  }

  function choose() {
    const turn = run ? run.turns[at].turn : fullest(data.runs[policy.selectedIndex]);
    run = data.runs[policy.selectedIndex];
    state = undefined;
    slider.max = run.turns.length;
    by("wrong").disabled = !run.turns.some(isWrong);
    const behind = run.turns.findIndex((each) => each.turn >= turn);
    go(behind < 0 ? run.turns.length - 1 : behind);
  }

  // The first turn in which the window holds most: there is something to see in it.
  function fullest(run) {
    const most = Math.max(...run.turns.map((turn) => turn.tokens));
    return run.turns.find((turn) => turn.tokens === most).turn;
  }

  const isWrong = (turn) => (turn.said || []).some((each) => each[3]);

  function nextWrong() {
    const next = run.turns.findIndex((turn, place) => place > at && isWrong(turn));
    go(next < 0 ? run.turns.findIndex(isWrong) : next);
  }

  for (const each of data.runs) policy.append(element("option", each.policy));
  policy.value = data.first;
  if (policy.selectedIndex < 0) policy.selectedIndex = 0;
  policy.addEventListener("change", choose);
  slider.addEventListener("input", () => go(Number(slider.value) - 1));
  by("back").addEventListener("click", () => go(at - 1));
  by("on").addEventListener("click", () => go(at + 1));
  by("wrong").addEventListener("click", nextWrong);
  by("find").addEventListener("input", drawTables);
  for (const each of document.querySelectorAll("#window [hidden]")) each.hidden = false;
  choose();
}
