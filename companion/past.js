// History, asked for each time it is opened and kept nowhere.
import { get } from "./api.js";
import { clock, say } from "./words.js";

export async function showPast() {
  const list = document.getElementById("past");
  const note = document.getElementById("past-note");
  list.replaceChildren();
  note.textContent = "";
  document.getElementById("history").showModal();
  try {
    const { turns } = await get("/api/history");
    note.textContent = turns.length ? "" : say("no_history");
    list.replaceChildren(...turns.map(item));
  } catch (error) {
    note.textContent = error.message;
  }
}

function item(turn) {
  const node = document.createElement("li");
  node.classList.toggle("bad", turn.ok === false);
  for (const [name, text] of [["asked", turn.text], ["", turn.said], ["small", turn.at ? clock(turn.at) : ""]]) {
    const line = document.createElement("p");
    line.className = name;
    line.dir = "auto";
    line.textContent = text ?? "";
    node.append(line);
  }
  return node;
}
