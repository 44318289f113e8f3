import TerminalText
import UsageState

/// The foot of a screen: the devices that push, and whether this machine reaches the daemon.
enum DeviceLines {
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        let devices = model.devices.map { device in
            (
                name: VisibleText.escape(device.name).truncated(toCells: 24),
                presence: presence(device, times: model.times)
            )
        }
        let nameCells = devices.map { CellWidth.of($0.name) }.max() ?? 0
        let stateCells = devices.map { CellWidth.of($0.presence.state) }.max() ?? 0
        let noteColumn = nameCells + 2 + stateCells + 2
        var lines = devices.flatMap { name, presence in
            var first = StyledLine(name.padded(toCells: nameCells + 2), .dim)
            first.append(presence.state, presence.style)
            let note = Parts.wrapped(presence.note, width: width - noteColumn)
            return first.continued(by: note, atColumn: noteColumn, .dim)
        }
        if let note = UsageNote.link(model.data.link) {
            lines += model.text(note.text).wrapped(toCells: width).map { StyledLine($0, note.tone.style) }
        }
        return lines
    }

    private static func presence(
        _ device: DeviceState, times: TimeFormatter
    ) -> (state: String, note: String, style: TextStyle) {
        let time = times.past(device.lastPush)
        if let present = device.availability { return (present.word, "pushed \(time)", present.tone.style) }
        return switch device.presence {
        case .active: ("active", "pushed \(time)", .plain)
        case .stale: ("stale", "last push \(time), check usage-push there", .colored(.yellow))
        case .unknown: ("unknown", "last known push \(time)", .plain)
        case .clockAhead:
            ("clock ahead", "its clock is fast, or this one is slow", .colored(.yellow))
        }
    }
}
