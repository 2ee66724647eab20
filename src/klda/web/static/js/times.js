// Turns every <time datetime> into the reader's language and zone, or the one in data-zone.
const STYLES = {
  full: { dateStyle: "medium", timeStyle: "short" },
  day: { dateStyle: "medium" },
};
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function ago(date) {
  const seconds = Math.round((date - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export function localiseTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.valueOf())) continue;
    const { style, zone } = element.dataset;
    const shown = (form) => new Intl.DateTimeFormat(undefined, { ...form, timeZone: zone }).format(date);
    element.textContent = style === "ago" ? ago(date) : shown(STYLES[style] ?? STYLES.full);
    element.title = shown({ dateStyle: "full", timeStyle: "long" });
  }
}
