"""Start the kernel: `python -m svc_jupyter.spark_kernel -f CONNECTION_FILE`."""

from __future__ import annotations

from ipykernel.kernelapp import IPKernelApp

from svc_jupyter.spark_kernel.kernel import SparkKernel

if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=SparkKernel)
