// The token against forged requests, which every page carries for htmx.
export function csrfHeaders() {
  return JSON.parse(document.body.getAttribute("hx-headers"));
}
