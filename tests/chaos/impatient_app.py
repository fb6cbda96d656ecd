"""The worker's application on a broker that delivers again what was not acknowledged for 5 s."""

from worker.celery_app import app

app.conf.broker_transport_options = app.conf.broker_transport_options | {"visibility_timeout": 5}
