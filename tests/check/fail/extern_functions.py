def same(x):
    return x


def wrong():
    return 1


def good(x):
    return x
