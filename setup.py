"""The packages by a rule: `engine` and `stdlib` are imported as `ddlog.engine` and `ddlog.stdlib`."""

from setuptools import find_namespace_packages, setup

setup(
    packages=[
        *find_namespace_packages(include=["ddlog", "ddlog.*"]),
        *(f"ddlog.{each}" for each in find_namespace_packages(include=["engine*", "stdlib*"])),
    ]
)
