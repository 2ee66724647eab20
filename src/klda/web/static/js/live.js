// Elements with data-live="address" listen to server-sent events: each names, in JSON, the new text of [data-value=name].
// What the page offers in one state alone, [data-when=state], follows.
export function watchLive(root) {
  for (const element of root.querySelectorAll("[data-live]:not([data-listening])")) {
    element.dataset.listening = "yes";
    const events = new EventSource(element.dataset.live);
    events.onmessage = (event) => {
      const counts = JSON.parse(event.data);
      for (const [name, value] of Object.entries(counts)) {
        const place = element.querySelector(`[data-value="${CSS.escape(name)}"]`);
        if (place) place.textContent = typeof value === "number" ? value.toLocaleString() : value;
      }
      for (const part of document.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== counts.state;
      element.dataset.state = "live";
    };
    events.onerror = () => { element.dataset.state = "waiting"; };
    addEventListener("pagehide", () => events.close());
  }
}
