"""Serves an application until the program that has started it ends, however that is."""

import os
import threading
import time

import waitress


def watch(parent):
    # A process whose parent has ended is given another one.
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def serve(application):
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    # Clients close connections that nobody uses, after a minute. A server that does so, too, may meet a request on its way.
    server = waitress.create_server(
        application, host="127.0.0.1", port=0, threads=8, channel_timeout=3600, clear_untrusted_proxy_headers=True)
    print(server.effective_port, flush=True)
    # Whoever has started this reads until the end of what is printed.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    server.run()
