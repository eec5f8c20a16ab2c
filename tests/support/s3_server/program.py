"""The server's program, in a Python of its own: prints where it answers and its keys, ends when its stdin does."""

from __future__ import annotations

import json
import os
import sys

CALLS_WITHOUT_KEYS = 4
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(CALLS_WITHOUT_KEYS)  # those that make the user; then all are checked

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

BUCKET = sys.argv[1]
EVERYTHING = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}'


def main() -> None:
    """Serve until stdin ends."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    place = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"}
    nobody = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nobody"}
    users = boto3.client("iam", **place, **nobody)
    users.create_user(UserName="tester")
    users.put_user_policy(UserName="tester", PolicyName="all", PolicyDocument=EVERYTHING)
    keys = users.create_access_key(UserName="tester")["AccessKey"]
    boto3.client("s3", **place, **nobody).create_bucket(Bucket=BUCKET)
    told = {"endpoint": place["endpoint_url"], "keys": [keys["AccessKeyId"], keys["SecretAccessKey"]]}
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


main()
