"""Who has which sensitive value in a group of exchangeable people: a model, its sampler, its scores."""
