"""A Ray cluster on the loopback device: prints its address, and ends when its standard input does."""

import sys

import ray


def main() -> None:
    own = {"address": "local", "_node_ip_address": "127.0.0.1", "include_dashboard": False, "num_cpus": 6}
    context = ray.init(**own, log_to_driver=False, logging_level="ERROR")
    print(context.address_info["gcs_address"], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
