"""What the service asks of its machine: disks and processes; nothing that knows a run or a job."""
