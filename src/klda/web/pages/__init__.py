"""Pages for people, one file each: a `router`, listed in `klda.web.application`.

Endpoints that read a store are plain functions, which run in the thread pool. A page is `render(request, template, …)`;
pages of one monitor extend `monitor_base.html` and lie under /monitors/{name}. Every form holds
`csrf_field(csrf)`; htmx sends the same token by itself.
"""
