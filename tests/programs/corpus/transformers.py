from functools import cmp_to_key


def Rank(weights, edges, heavier):
    ranked = sorted(weights, key=cmp_to_key(lambda a, b: -1 if heavier(a, b) else 1))
    return [(i, each.a) for i, each in enumerate(ranked)], [(sum(each.w for each in weights), len(edges))]
