"""`./dev bench scale`: how rates, CPU time and waits change with the number of threads, processes, workers and ranks."""
