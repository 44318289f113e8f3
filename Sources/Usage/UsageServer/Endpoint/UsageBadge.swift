import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// A badge: which window, and how much of it is used or left, in words and a color.
struct UsageBadge {
    private enum Color: String {
        // Each has a contrast of at least 4.5 with white text.
        case green = "#2e7d32"
        case amber = "#8a6100"
        case red = "#c62828"
        case gray = "#5f6368"
    }

    private let label: String
    private let message: String
    private let color: Color

    /// A badge of the window that ends first.
    ///
    /// - Parameter provider: what was asked for, shown if there is nothing.
    init(_ model: ViewModel, _ providers: [ProviderState], provider: String?) {
        guard model.situation == .ready, let state = ProviderState.mostUrgentFirst(providers, at: model.now).first
        else {
            label = (provider ?? "usage").cell(Self.labelCells)
            (message, color) = (Self.emptyState(model.situation), .gray)
            return
        }
        let name = state.snapshot.providerName
        guard let item = state.items(at: model.now).first, item.condition.hasPercent, let window = item.window else {
            let shown = state.windows.count == 1 ? state.windows[0].label.text : nil
            label = Self.label(name, shown)
            (message, color) =
                state.snapshot.isError
                ? ("error", .red)
                : (state.windows.isEmpty ? "no limits" : "reset, no newer data", .gray)
            return
        }
        label = Self.label(name, window.label.text)
        let isCurrent = state.freshness == .fresh || state.freshness == .cached
        let word =
            switch state.freshness {
            case .fresh, .cached: window.urgency == .runsOut ? "runs out before its reset" : window.urgency.rawValue
            case .stale: "stale"
            case .clockAhead: "clock ahead"
            }
        message = model.percentText(of: window, in: state) + ", " + word
        color = isCurrent ? Self.color(of: window.urgency) : .gray
    }

    private static let labelCells = 40
    private static let cellWidth = 7
    private static let padding = 6

    private static func label(_ provider: String, _ window: String?) -> String {
        let name = provider.cell(window == nil ? labelCells : 18)
        return window.map { name + " " + $0.cell(labelCells - 19) } ?? name
    }

    private static func color(of urgency: Urgency) -> Color {
        switch urgency {
        case .comfortable: .green
        case .low, .runsOut: .amber
        case .critical: .red
        }
    }

    private static func emptyState(_ situation: ViewModel.Situation) -> String {
        switch situation {
        case .unreadable: "unreadable"
        case .noProviders, .ready: "no providers"
        case .notJoined, .removed, .waitingForFirstPush, .offlineWithoutData:
            "waiting for the first push"
        }
    }

    var svg: String {
        let left = CellWidth.of(label) * Self.cellWidth
        let right = CellWidth.of(message) * Self.cellWidth
        let split = left + 2 * Self.padding
        let width = split + right + 2 * Self.padding
        let title = XMLText.escape(label + ": " + message)
        func text(_ text: String, x: Int, length: Int) -> String {
            // The length makes up for the font that is there.
            "<text x=\"\(x)\" y=\"14\" textLength=\"\(length)\" lengthAdjust=\"spacingAndGlyphs\">"
                + XMLText.escape(text) + "</text>"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="20" role="img" \
            aria-label="\(title)"><title>\(title)</title>\
            <clipPath id="r"><rect width="\(width)" height="20" rx="3"/></clipPath>\
            <g clip-path="url(#r)"><rect width="\(split)" height="20" fill="#3b3b3b"/>\
            <rect x="\(split)" width="\(width - split)" height="20" fill="\(color.rawValue)"/></g>\
            <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\
            \(text(label, x: Self.padding, length: left))\
            \(text(message, x: split + Self.padding, length: right))</g></svg>

            """
    }
}
