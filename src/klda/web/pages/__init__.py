"""Pages for people. Their routers are listed in `klda.web.application`.

Endpoints that read a store are plain functions, which run in the thread pool. A page is `render(request, template, …)`.
Pages of one monitor extend `monitor_base.html` and are below /monitors/{name}. Every form contains `csrf_field(csrf)`;
htmx sends the same token by itself.
"""
