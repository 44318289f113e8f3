import ClockZones
import Commands
import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// From data to the printed line.
struct StatusRenderer: Sendable {
    let format: StatusFormat
    var choice: StatusChoice
    let maxWidth: Int?
    let isRedacted: Bool
    /// False if the locale has only ASCII.
    let isUnicode: Bool
    /// Clock times as "3:30 PM".
    let isTwelveHour: Bool
    let zone: ClockZone

    /// A line, and when it becomes another one without new data.
    func line(_ data: UsageData, now: Date) throws -> (text: String, nextChange: Date?) {
        let (model, text) = content(data, now: now)
        return (try string(text, model: model), text.line.nextChange)
    }

    func report(_ data: UsageData, now: Date) -> StatusReport {
        let (_, text) = content(data, now: now)
        return StatusReport(text.line, text: text.styled.plainText, now: now)
    }

    /// The ids that clicks move between, in display order.
    func providers(_ data: UsageData, now: Date) -> [String] {
        content(data, now: now).model.providers.map(\.snapshot.providerID)
    }

    private func content(_ data: UsageData, now: Date) -> (model: ViewModel, text: StatusText) {
        let model = ViewModel(
            data: isRedacted ? data.redacted : data, now: now, zone: zone,
            options: ViewOptions(
                measure: choice.measure, isAbsolute: choice.isAbsolute, isUnicode: isUnicode,
                isTwelveHour: isTwelveHour))
        var text = StatusText(
            line: UsageLine(model, selection: choice.selection), measure: choice.measure,
            times: model.times, maxWidth: maxWidth)
        if case .template(let template) = format { text.template = template }
        return (model, text)
    }

    private func string(_ text: StatusText, model: ViewModel) throws -> String {
        switch format {
        case .named(.waybar):
            String(decoding: try JSONOutput.data(WaybarBlock(text, model: model)), as: UTF8.self).trimmed()
        case .named(.i3bar): try I3BarBlocks.line(text)
        case .named, .template:
            format.markup.render(isUnicode ? text.styled : text.styled.inASCII)
        }
    }
}
