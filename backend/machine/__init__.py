"""What the service asks of its machine: disks, processes, the time; no run and no job."""
