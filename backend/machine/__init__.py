"""What the service asks of its machine: disks, processes, the time; it knows no run and no job."""
