"""Many runs of one config: planning them, running them in processes, keeping what they found."""
