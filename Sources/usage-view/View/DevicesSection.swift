import Essentials
import TerminalText
import UsageState

/// The devices that push, and those of the account that do not.
enum DevicesSection {
    struct Row: Equatable {
        let name: String
        let presence: DevicePresence
        /// Nil for a device that has pushed nothing.
        let pushed: DeviceState?
        /// The last time the daemon saw it; nil if it said nothing.
        let lastSeen: Date?

        var style: TextStyle {
            switch presence {
            case .online, .active, .unchecked, .unknown: .plain
            case .notReporting, .offline, .stale, .clockAhead: .colored(.yellow)
            }
        }
    }

    /// By name. The daemon and usage-push know a device by ids of their own; both take its name from the system, so that
    /// a name which only one device of the account has connects them.
    static func rows(_ model: LiveModel) -> [Row] {
        let server = model.data.server
        let now = model.usage.now
        let pushed = model.usage.devices.map { device in
            let state = self.state(of: device.name, server)
            var seen: Date?
            if case .notConnected(let date) = state { seen = date }
            return Row(
                name: device.name,
                presence: DevicePresence(
                    server: state, heartbeatAge: now.timeIntervalSince(device.lastPush)),
                pushed: device, lastSeen: seen)
        }
        guard case .known(let devices) = server else { return pushed }
        let names = Set(pushed.map { $0.name.lowercased() })
        let others = devices.filter { !names.contains($0.name.lowercased()) }.map { device in
            Row(
                name: device.name,
                presence: DevicePresence(
                    server: device.isConnected
                        ? .connected : .notConnected(lastSeen: device.lastSeen),
                    heartbeatAge: nil),
                pushed: nil, lastSeen: device.lastSeen)
        }
        return pushed + others
    }

    private static func state(of name: String, _ server: LiveData.Server) -> ServerPresence {
        switch server {
        case .notAsked: return .notAsked
        case .unreachable: return .unreachable
        case .known(let devices):
            let found = devices.filter { $0.name.lowercased() == name.lowercased() }
            guard found.count == 1, let device = found.first else { return .unreachable }
            return device.isConnected ? .connected : .notConnected(lastSeen: device.lastSeen)
        }
    }

    /// One line per device that pushes, for the foot of the overview.
    static func summary(_ model: LiveModel, width: Int) -> [StyledLine] {
        guard case .known = model.data.server else {
            return DeviceLines.lines(for: model.usage, width: width)
        }
        return rows(model).filter { $0.pushed != nil }.map { line($0, model, width: width) }
    }

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        let rows = rows(model)
        return Listing(
            items: rows.map {
                ListItem($0.pushed?.id ?? "name " + $0.name, [line($0, model, width: width)])
            },
            empty: EmptyState.lines(for: model.usage, width: min(width, 90)))
    }

    private static func line(_ row: Row, _ model: LiveModel, width: Int) -> StyledLine {
        let nameCells = min(24, max(8, width / 3))
        var line = StyledLine(VisibleText.escape(row.name).fitted(toCells: nameCells) + "  ")
        line.append(row.presence.word, row.style)
        let note = "  " + note(row, model)
        if line.cells + CellWidth.of(note) <= width { line.append(note, .dim) }
        return line.truncated(toCells: width)
    }

    private static func note(_ row: Row, _ model: LiveModel) -> String {
        let seen = row.lastSeen ?? row.pushed?.lastPush
        switch row.presence {
        case .offline: return seen.map { "last seen " + model.times.past($0) } ?? ""
        default:
            guard let push = row.pushed?.lastPush else { return "has pushed nothing" }
            return "pushed " + model.times.past(push)
        }
    }

    static func detail(_ model: LiveModel, id: String, width: Int) -> [StyledLine] {
        let row = rows(model).first { $0.pushed?.id == id || "name " + $0.name == id }
        guard let row else { return [] }
        var fields = [("presence", row.presence.word), ("why", reason(row))]
        if let seen = row.lastSeen { fields.append(("last seen", model.times.past(seen))) }
        if let pushed = row.pushed {
            fields.append(("last push", model.times.past(pushed.lastPush)))
            if let id = pushed.id { fields.append(("id", VisibleText.escape(id))) }
            let providers = model.usage.providers.filter { $0.deviceNames.contains(pushed.name) }
            fields.append(("reports", providers.map(\.title).joined(separator: ", ")))
        }
        if let next = nextStep(row.presence) { fields.append(("next", next)) }
        return [StyledLine(VisibleText.escape(row.name).truncated(toCells: width), .bold)]
            + FieldLines.lines(fields, width: width)
    }

    private static func reason(_ row: Row) -> String {
        switch row.presence {
        case .online: "the daemon holds a connection to it"
        case .notReporting:
            "the daemon holds a connection to it, but nothing was pushed for 5 minutes"
        case .offline: "the daemon holds no connection to it"
        case .active: "it pushed within the last 5 minutes; the daemon says nothing about it"
        case .stale: "it pushed nothing for 5 minutes; the daemon says nothing about it"
        case .unknown: "neither the daemon nor a push says anything about it"
        case .clockAhead: "its last push is in the future"
        case .unchecked: "the daemon has not been asked yet"
        }
    }

    private static func nextStep(_ presence: DevicePresence) -> String? {
        switch presence {
        case .online, .active, .unchecked: nil
        case .notReporting, .stale: "check usage-push there: usage-push status"
        case .offline: "switch it on, or check its network and usage-push status there"
        case .unknown: "check that kvsd is reachable from here: kvs status"
        case .clockAhead: "set its clock, or this machine's"
        }
    }
}

/// Names and wrapped values, aligned.
enum FieldLines {
    static func lines(_ fields: [(String, String)], width: Int) -> [StyledLine] {
        let column = 2 + (fields.map { CellWidth.of($0.0) }.max() ?? 0) + 2
        return fields.flatMap { name, value in
            StyledLine("  " + name, .dim).continued(
                by: value.wrapped(toCells: max(8, width - column)), atColumn: column, .plain)
        }
    }
}
