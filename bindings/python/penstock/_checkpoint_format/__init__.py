"""Rules of distributed checkpoints, shared by loads, saves and the command line. Without torch."""
