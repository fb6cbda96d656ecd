"""What the metrics of a run say of it: verdict, gauges and events as pure rules; no queries."""
