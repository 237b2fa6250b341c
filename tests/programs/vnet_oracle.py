"""The intricate relations of `programs/vnet/` in plain Python: graph searches, the ipaddress module, and what
must be remembered from commit to commit."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import chain
from typing import Any, NamedTuple

import networkx as nx

from ddlog.sessions.session import Session
from ddlog.values import Set, Vec
from ddlog.values.rows import record_maker

Inputs = Mapping[str, list[Any]]


INPUTS = {
    "northbound": (
        "Load_Balancer Logical_Router Logical_Router_Port Logical_Router_Static_Route Logical_Switch "
        "Logical_Switch_Port NB_Global"
    ),
    "southbound": "Chassis Port_Binding Probe Sent",
}
OUTPUTS = {
    "": "Traffic",
    "alloc": "DatapathBinding DynamicAddresses",
    "policy::lb": "VipStatus",
    "topology::lrouter": "ChassisNeeds Cluster RouteTable",
}


def contents(session: Session, relations: Mapping[str, str]) -> dict[str, list[Any]]:
    """The rows of the relations of each module, by the names of the relations alone."""
    return {
        name: records(session, f"{module}::{name}" if module else name)
        for module, names in relations.items()
        for name in names.split()
    }


def records(session: Session, relation: str) -> list[Any]:
    """The rows of a relation as values of the language."""
    make = record_maker(session.program.relations[relation], session.typedefs)
    return list(map(make, session[relation].stored))


def plain(value: Any) -> Any:
    """A value of the program as Python's: tuples for structs and vectors, frozen sets for sets."""
    match value:
        case Set():
            return frozenset(map(plain, value))
        case tuple() | Vec():
            return tuple(map(plain, value))
        case _:
            return value


def given(option: Any) -> Any:
    """What an Option holds, or None."""
    return getattr(option, "x", None)


class RouterPort(NamedTuple):
    """A router port with one of its peers: None, `("router", port)` or `("switch", uuid)`."""

    name: str
    router: int
    interfaces: list[IPv4Interface]
    peer: tuple[str, Any] | None


class Oracle:
    """Computes the relations after a commit from the inputs after it, and from what it remembers."""

    def __init__(self) -> None:
        self.keys: dict[int, int] = {}
        self.leases: dict[int, dict[str, int]] = {}
        self.health: dict[tuple[IPv4Address, int], bool] = {}

    def after(self, inputs: Inputs) -> dict[str, set[Any]]:
        """The contents of relations; `Probe` is that of the commit alone."""
        self.inputs = inputs
        self.switches = {s._uuid: s for s in inputs["Logical_Switch"]}
        self.ports = {p._uuid: p for p in inputs["Logical_Switch_Port"]}
        self.routers = {r._uuid: r for r in inputs["Logical_Router"] if given(r.enabled) is not False}
        self.place = {u: s._uuid for s in self.switches.values() for u in s.ports if u in self.ports}
        self.router_ports = list(self._router_ports())
        self.links = list(self._links())
        self.names = {u: x.name for u, x in (self.switches | self.routers).items()}
        text = [self._globals(row.document) for row in inputs["NB_Global"]]
        self.options = next((found for found in text if found is not None), None)
        return {
            "RouteTable": set(self._route_table()),
            "Cluster": set(self._clusters()),
            "ChassisNeeds": set(self._needs()),
            "DatapathBinding": set(self._bindings()),
            "DynamicAddresses": set(self._dynamic_addresses()),
            "VipStatus": set(self._vips()),
            "Traffic": set(self._traffic()),
        }

    def _router_ports(self) -> Iterable[RouterPort]:
        named = {p.name for p in self.inputs["Logical_Router_Port"]}
        attached = defaultdict(set)
        for u, switch in self.place.items():
            options = dict(self.ports[u].options.items())
            if getattr(self.ports[u], "__type") == "router" and "router-port" in options:
                attached[options["router-port"]].add(switch)
        for router in self.routers.values():
            for port in self.inputs["Logical_Router_Port"]:
                try:
                    interfaces = [IPv4Interface(n) for n in port.networks]
                except ValueError:
                    continue
                if port._uuid not in router.ports or not is_mac(port.mac):
                    continue
                peers: list[tuple[str, Any] | None] = [("switch", s) for s in attached[port.name]]
                peer = given(port.peer)
                if peer in named:
                    peers.append(("router", peer))
                if peer is None and not attached[port.name]:
                    peers.append(None)
                for each in peers:
                    yield RouterPort(port.name, router._uuid, interfaces, each)

    def _links(self) -> Iterable[tuple[int, int, str, IPv4Address]]:
        """From a router to a neighbour, by a port, to an address."""
        for a in self.router_ports:
            for b in self.router_ports:
                meet = a.peer == ("router", b.name) or (
                    a.peer is not None and a.peer[0] == "switch" and a.peer == b.peer
                )
                if meet and a.router != b.router:
                    for there in b.interfaces:
                        if any(there.ip in here.network for here in a.interfaces):
                            yield a.router, b.router, a.name, there.ip

    def _route_table(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        local: dict[IPv4Network, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for port in self.router_ports:
            for i in port.interfaces:
                local[i.network][port.router].append((0, 0, port.name, 0))
        for route in self.inputs["Logical_Router_Static_Route"]:
            for port in self.router_ports:
                gateway = IPv4Address(route.nexthop.addr)
                if route._uuid in self.routers[port.router].static_routes and any(
                    gateway in i.network for i in port.interfaces
                ):
                    to = IPv4Network(route.ip_prefix, strict=False)
                    local[to][port.router].append((1, route.metric, port.name, int(gateway)))
        lines = defaultdict(set)
        for net, found in local.items():
            best = {router: min(routes) for router, routes in found.items()}
            told = self._told(net, best)
            for router in {a for a, *_ in self.links} - best.keys():
                offers = [
                    (told[b] + 1, p, int(ip)) for a, b, p, ip in self.links if a == router and b in told
                ]
                if offers and min(offers)[0] < 16:
                    best[router] = (2, *min(offers))
            for router, (kind, number, port, gateway) in best.items():
                via = f" via {IPv4Address(gateway)}" if kind else ""
                source = ["connected", f"static {number}", f"learned {number}"][kind]
                shown = net.network_address if net.prefixlen == 32 else net
                lines[router].add(f"{shown}{via} dev {port} {source}")
        return ((self.names[router], tuple(sorted(found))) for router, found in lines.items())

    def _told(self, net: IPv4Network, best: Mapping[int, tuple[Any, ...]]) -> dict[int, int]:
        """How far away each router tells its neighbours that the network is; a default route is not told."""
        told: dict[int, int] = {}
        queue = [(number, router) for router, (kind, number, *_) in best.items() if not kind or net.prefixlen]
        heapq.heapify(queue)
        while queue:
            hops, router = heapq.heappop(queue)
            if router not in told and hops < 16:
                told[router] = hops
                further = {a for a, b, _, _ in self.links if b == router} - best.keys()
                for a in further:
                    heapq.heappush(queue, (hops + 1, a))
        return told

    def _clusters(self) -> Iterable[tuple[str, frozenset[str]]]:
        graph = nx.DiGraph((a, b) for a, b, _, _ in self.links)
        for members in nx.strongly_connected_components(graph):
            if len(members) > 1:
                yield self.names[min(members)], frozenset(self.names[m] for m in members)

    def _needs(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        graph = nx.DiGraph((a, b) for a, b, _, _ in self.links)
        for port in self.router_ports:
            if port.peer is not None and port.peer[0] == "switch":
                graph.add_edges_from([(port.router, port.peer[1]), (port.peer[1], port.router)])
        graph.add_nodes_from(self.switches)
        chassis = {c.name for c in self.inputs["Chassis"]}
        needs = defaultdict(set)
        for binding in self.inputs["Port_Binding"]:
            for u, switch in self.place.items():
                if self.ports[u].name == binding.logical_port and binding.chassis in chassis:
                    needs[binding.chassis] |= {
                        self.names[dp] for dp in {switch, *nx.ancestors(graph, switch)}
                    }
        return ((name, tuple(sorted(names))) for name, names in needs.items())

    def _globals(self, text: str) -> dict[str, Any] | None:
        found = json.loads(text)
        known = {"geneve": {"port"}, "vxlan": {"port", "vni_bits"}}
        good = all(known.get(t.get("kind"), {""}) <= t.keys() for t in found.get("tunnels", [{}]))
        return found if good else None

    def _bindings(self) -> Iterable[tuple[str, int]]:
        most = (self.options or {}).get("max-tunnel-key", 0xFFFFFF)
        kept = {dp: self.keys[dp] for dp in sorted(self.names) if dp in self.keys}
        self.keys = kept | circle(
            [dp for dp in sorted(self.names) if dp not in kept], set(kept.values()), 1, most
        )
        return ((self.names[dp], key) for dp, key in self.keys.items())

    def _dynamic_addresses(self) -> Iterable[tuple[str, str]]:
        ipam = (self.options or {}).get("ipam")
        prefix = int((ipam["mac-prefix"] if ipam else "02:00:00").replace(":", ""), 16)
        leases: dict[int, dict[str, int]] = {}
        for u, switch in self.switches.items():
            config = dict(switch.other_config.items())
            if "subnet" not in config:
                continue
            subnet = IPv4Network(config["subnet"], strict=False)
            if not 16 <= subnet.prefixlen <= 29:
                continue
            ports = [self.ports[p] for p in switch.ports if p in self.ports]
            words = {p._uuid: [a.split() for a in p.addresses] for p in ports}
            taken = {IPv4Address(r) for r in (ipam or {}).get("reserved", [])}
            for word in config.get("exclude_ips", "").split():
                first, _, last = word.partition("..")
                taken |= {
                    IPv4Address(n)
                    for n in range(int(IPv4Address(first)), int(IPv4Address(last or first)) + 1)
                }
            for one in (one for each in words.values() for one in each if len(one) > 1 and is_mac(one[0])):
                if one[1] != "dynamic" and all(map(is_address, one[1:])):
                    taken |= {IPv4Address(ip) for ip in one[1:]}
            for port in self.router_ports:
                if port.peer == ("switch", u):
                    taken |= {i.ip for i in port.interfaces}
            used = {1} | {int(ip) - int(subnet.network_address) for ip in taken if ip in subnet}
            asks = {p.name: one[0] for p in ports for one in words[p._uuid] if one[-1:] == ["dynamic"]}
            if not asks:
                continue
            before = self.leases.get(u, {})
            last = subnet.num_addresses - 1
            kept = {
                n: before[n]
                for n in sorted(asks)
                if n in before and before[n] not in used and before[n] < last
            }
            fresh = circle([n for n in sorted(asks) if n not in kept], used | set(kept.values()), 2, last - 1)
            leases[u] = kept | fresh
            for name, offset in leases[u].items():
                ip = subnet.network_address + offset
                mac = asks[name] if asks[name] != "dynamic" else mac_text(prefix << 24 | int(ip) & 0xFFFFFF)
                yield name, f"{mac} {ip}"
        self.leases = leases

    def _vips(self) -> Iterable[tuple[str, int, int]]:
        answers = defaultdict(bool)
        for probe in self.inputs["Probe"]:
            answers[IPv4Address(probe.ip.addr), probe.port] |= probe.online
        self.health |= answers
        for balancer in self.inputs["Load_Balancer"]:
            for vip, text in balancer.vips.items():
                backends = [b.strip() for b in text.split(",") if b.strip()]
                if any((":" in b) != (":" in vip) for b in backends):
                    continue
                down = 0
                for backend in set(backends):
                    ip, _, port = backend.partition(":")
                    down += bool(port) and not self.health.get((IPv4Address(ip), int(port)), True)
                yield vip, len(set(backends)) - down, len(backends)

    def _traffic(self) -> Iterable[tuple[str, int, int, tuple[int, str]]]:
        sent = defaultdict(set)
        for row in self.inputs["Sent"]:
            for u, switch in self.place.items():
                if self.ports[u].name == row.logical_port:
                    sent[switch].add((row.bytes, row.logical_port))
        for switch, found in sent.items():
            yield self.names[switch], len({name for _, name in found}), sum(n for n, _ in found), max(found)


def circle(items: list[Any], used: set[int], least: int, most: int) -> dict[Any, int]:
    """Numbers for items, each the first that is free after the one before it."""
    taken = {n for n in used if least <= n <= most}
    at = max(used, default=most)
    found = {}
    for item in items:
        around = chain(range(at + 1, most + 1), range(least, most + 1))
        free = next((n for n in around if n not in taken), None)
        if free is not None:
            at = found[item] = free
            taken.add(at)
    return found


def is_mac(text: str) -> bool:
    parts = text.strip().split(":")
    return len(parts) == 6 and all(len(p) == 2 and set(p.lower()) <= set("0123456789abcdef") for p in parts)


def is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def mac_text(number: int) -> str:
    return number.to_bytes(6, "big").hex(":")
