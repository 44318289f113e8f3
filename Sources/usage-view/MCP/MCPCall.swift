import ClockZones
import Commands
import Essentials
import TerminalText
import UsageState

/// A request that takes the usage to answer it.
struct MCPCall: Sendable {
    let id: MCPMessage.ID
    let isModern: Bool
    let tool: MCPTool
    /// Whether the document is read as a resource, which is there also where it says that there is nothing.
    let isResource: Bool
    var selection = UsageSelection()
    /// How long to wait at most.
    var seconds = MCPTool.usualWait

    /// - Parameter outcome: how a wait has ended; nil for what does not wait.
    func answer(_ data: UsageData, now: Date, zone: ClockZone, outcome: UsageWaiter.Outcome? = nil) -> MCPAnswer {
        let model = ViewModel(data: data, now: now, zone: zone, options: ViewOptions(selection: selection))
        if !isResource, let problem = problem(model) { return failure(problem) }
        switch (tool, outcome) {
        case (.limits, _): return answer(UsageReport(model))
        case (.cost, _): return answer(SpendingDocument(spending: Spending(model.providers, model)))
        case (.machines, _): return answer(MachinesReport(model))
        case (.wait, .unknown(let reason)): return failure("nothing to wait for: \(reason)")
        case (.wait, let outcome):
            return answer(WaitReport(isReset: outcome == .reached, limits: UsageReport(model)))
        }
    }

    /// The answer to a call that could not be executed.
    func failure(_ reason: String) -> MCPAnswer {
        let reason = VisibleText.escapedLines(reason, limit: 40).joined(separator: "\n")
        return MCPAnswer(
            id: id, isModern: isModern,
            content: isResource
                ? .error(.internalError(reason)) : .result(ToolResult(reason, String?.none, isError: true)))
    }

    /// Why there is nothing to answer with, and what to do next.
    private func problem(_ model: ViewModel) -> String? {
        if let empty = EmptyState(model), tool != .machines || model.devices.isEmpty {
            return ([empty.title] + empty.steps).map { $0.text(model.times) }.joined(separator: "\n")
        }
        if selection != UsageSelection(), model.providers.isEmpty {
            let all = ViewModel(data: model.data, now: model.now, zone: model.zone)
            return selection.absence(in: all, items: [])
        }
        return tool == .cost && !model.providers.contains { $0.cost != nil }
            ? "No costs yet. They are counted from the tools' logs, from the next push on." : nil
    }

    private func answer(_ document: some Encodable & Sendable) -> MCPAnswer {
        let text: String
        do {
            text = String(decoding: try JSONOutput.encoded(document).dropLast(), as: UTF8.self)
        } catch {
            return failure("cannot encode as JSON: \(error)")
        }
        let contents = ["uri": tool.uri, "mimeType": MCPTool.mediaType, "text": text]
        return MCPAnswer(
            id: id, isModern: isModern,
            content: isResource
                ? .result(["contents": [contents]], secondsKept: 0)
                : .result(ToolResult(text, document, isError: false)))
    }

    private struct ToolResult<Document: Encodable & Sendable>: Encodable, Sendable {
        var content: [[String: String]]
        var structuredContent: Document?
        var isError: Bool

        init(_ text: String, _ document: Document?, isError: Bool) {
            content = [["type": "text", "text": text]]
            structuredContent = document
            self.isError = isError
        }
    }
}

/// The devices of `UsageReport` alone.
struct MachinesReport: Encodable, Sendable {
    var schemaVersion = 1
    var generatedAt: Date
    var connection: UsageData.Link
    var devices: [DeviceState]

    init(_ model: ViewModel) {
        generatedAt = model.now
        connection = model.data.link
        devices = model.devices
    }
}

/// How a wait has ended, and the selected limits after it.
struct WaitReport: Encodable, Sendable {
    /// Else the time was up.
    var isReset: Bool
    var limits: UsageReport
}
