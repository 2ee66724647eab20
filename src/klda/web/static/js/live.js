// Elements with data-live="address" listen to server-sent events: each names, in JSON, the new text of [data-value=name].
export function watchLive(root) {
  for (const element of root.querySelectorAll("[data-live]:not([data-listening])")) {
    element.dataset.listening = "yes";
    const events = new EventSource(element.dataset.live);
    events.onmessage = (event) => {
      for (const [name, value] of Object.entries(JSON.parse(event.data))) {
        const place = element.querySelector(`[data-value="${CSS.escape(name)}"]`);
        if (place) place.textContent = typeof value === "number" ? value.toLocaleString() : value;
      }
      element.dataset.state = "live";
    };
    events.onerror = () => { element.dataset.state = "waiting"; };
    addEventListener("pagehide", () => events.close());
  }
}
