"""The extern functions of controller.dl."""

VENDORS = {0x02000A: "Lab", 0x00163E: "Xen", 0x525400: "QEMU"}


def vendor(mac):
    return VENDORS.get(mac >> 24)
