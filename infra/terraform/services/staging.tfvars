# Nothing is kept warm, and a flood costs little.
sizes = {
  chat                 = { min_instances = 0, max_instances = 5 }
  library              = { max_instances = 5 }
  process_conversation = { max_instances = 5 }
}
