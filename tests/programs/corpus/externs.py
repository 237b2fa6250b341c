from ddlog.stdlib.options import err, ok


def slug(s):
    return s.lower().replace(" ", "-")


def halves(n):
    return [n // 2, n - n // 2]


def bump(n):
    return n % 2 == 1, n + 1


def parsed(s):
    return ok(int(s)) if s.isdigit() else err(f"{s} is no number")


def best(pairs, f):
    return max(pairs, key=f) if pairs else None
