"""llama.cpp's own HTTP server, as the package xllamacpp carries it: llama_server.py MODEL.gguf PORT TEMPLATE NAME."""

import os
import sys
import threading

import xllamacpp

model, port, template, name = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {name}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
# threads that wait for a core hold up all others
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) // 2)
params.n_parallel = 2
params.n_ctx = 2 * 4096
params.use_jinja = True
with open(template, encoding="utf-8") as file:
    params.chat_template = file.read()
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
