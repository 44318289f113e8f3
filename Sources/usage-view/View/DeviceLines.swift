import TerminalText

/// The foot of a screen: which devices push, and whether this machine reaches the server.
enum DeviceLines {
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        let devices = model.devices.map { device in
            let pushed = AgeText.pushed(device, model: model)
            return (
                name: VisibleText.escape(device.name).truncated(toCells: 24),
                presence: pushed.presence, age: pushed.age, style: pushed.style
            )
        }
        let nameCells = devices.map { CellWidth.of($0.name) }.max() ?? 0
        let presenceCells = devices.map { CellWidth.of($0.presence) }.max() ?? 0
        let ageColumn = nameCells + 2 + presenceCells + 2
        var lines = devices.flatMap { device in
            RowColumns.wrapped(device.age, width: width - ageColumn).enumerated().map {
                var line = StyledLine()
                if $0.offset == 0 {
                    line.append(device.name.padded(toCells: nameCells + 2), .dim)
                    line.append(device.presence, device.style)
                }
                line.pad(toCells: ageColumn)
                line.append($0.element, .dim)
                return line
            }
        }
        if let note = linkNote(model) {
            lines += WordWrap.lines(note, width: width).map { StyledLine($0, .colored(.yellow)) }
        }
        return lines
    }

    /// Why the numbers may be behind; nil while this machine reaches the server, and on one that only
    /// shows its own.
    static func linkNote(_ model: ViewModel) -> String? {
        switch model.link {
        case .online, .notJoined: nil
        case .offline(let lastSeen?):
            "Offline, server last seen \(DurationWords.age(of: lastSeen, at: model.now)): "
                + "newer numbers may exist."
        case .offline(nil):
            "Offline: the server has not answered yet, newer numbers may exist."
        }
    }
}
