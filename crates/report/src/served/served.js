"use strict";
// Pages that hpcast serves: lists that follow what happens, and pictures of a run that are made when they are asked for.
(() => {
  const PAUSE = 1000;
  const DRAWING_PAUSE = 300;
  const asked = async (address, method = "GET") => {
    const answer = await fetch(address, { method }).catch(() => null);
    return answer?.ok ? answer : null;
  };

  // A list that is asked for again and again.
  const list = document.querySelector("[data-follow]");
  if (list) {
    const follow = async () => {
      // An answer that breaks off is not the last one.
      try {
        const answer = document.hidden ? null : await asked(list.dataset.follow);
        if (answer) list.innerHTML = await answer.text();
      } finally { setTimeout(follow, PAUSE); }
    };
    setTimeout(follow, PAUSE);
  }

  // Pictures of a run.
  const pictures = document.getElementById("pictures");
  if (!pictures) return;
  const address = `${pictures.dataset.address}/pictures`;
  const button = document.getElementById("draw");
  const placeFor = (picture) => {
    const id = `picture-${picture.kind}`;
    const known = document.getElementById(id);
    if (known) return known;
    const place = document.createElement("div");
    place.id = id;
    place.className = "picture";
    place.innerHTML = '<a hidden>by itself</a><h3></h3><p class="note"></p><div class="drawing" hidden></div>';
    document.getElementById("drawn").append(place);
    return place;
  };
  const show = async (picture) => {
    const place = placeFor(picture);
    if (place.dataset.state === "done") return;
    place.querySelector("h3").textContent = picture.title;
    const note = place.querySelector("p");
    note.textContent = picture.said;
    note.className = picture.state === "failed" ? "problem" : "note";
    if (picture.state === "done") {
      const link = place.querySelector("a");
      link.href = `${pictures.dataset.address}/${picture.kind}.svg`;
      const answer = await asked(link.href);
      if (!answer) return;
      link.hidden = false;
      const drawing = place.querySelector(".drawing");
      drawing.innerHTML = await answer.text();
      drawing.hidden = false;
    }
    place.dataset.state = picture.state;
  };
  const look = async (method) => {
    const answer = await asked(address, method);
    const list = answer ? (await answer.json()).pictures : [];
    button.disabled = list.length > 0;
    for (const picture of list) await show(picture);
    const isOpen = (picture) => picture.state === "waiting" || picture.state === "running";
    if (list.some(isOpen)) setTimeout(look, DRAWING_PAUSE, "GET");
  };
  button.addEventListener("click", () => look("POST"));
  look("GET");
})();
