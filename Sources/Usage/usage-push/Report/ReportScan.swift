import Commands
import Essentials
import TerminalText
import UsagePusher

/// Brings the sums of the tools' logs up to date, and says on standard error what is missing in them.
struct ReportScan {
    let reading: ReadingOptions

    func run() -> TokenUsage {
        let (prices, issues) = ModelPrices.load()
        for issue in issues { Console.report(issue) }
        let bar = ScanProgressBar()
        var options = TokenLedger.Options()
        options.progress = { bar.update($0, of: $1) }
        let environment = reading.place.environment
        // What is kept of this user's logs is of all tools; of another home nothing is kept.
        let ledger = TokenLedger(of: environment.keepsCache ? [] : reading.provider, in: environment)
        let usage = bar.show {
            ledger.update(in: environment, prices: prices, options: options)
        }
        for message in Self.messages(usage) { Console.report(message) }
        return usage
    }

    /// What the sums lack, in few lines.
    static func messages(_ usage: TokenUsage) -> [String] {
        var messages = Array(usage.issues.prefix(issueLimit))
        if usage.issues.count > issueLimit {
            messages.append("\(usage.issues.count - issueLimit) more; to see them, run: usage-push sources")
        }
        let leftOut = usage.leftOut.reduce(0) { $0 &+ $1.count }
        if leftOut > 0 {
            let files = usage.leftOut.count == 1 ? "1 file" : "\(usage.leftOut.count) files"
            let records = leftOut == 1 ? "1 invalid record" : "\(leftOut) invalid records"
            messages.append("skipped \(records) in \(files), most in \(usage.leftOut[0].path)")
        }
        if let issue = usage.futureIssue(at: Date()) { messages.append(issue) }
        if usage.isPartial || !usage.unreadable.isEmpty {
            messages.append("not all files have been read to their end; the sums are too small")
        }
        // A line each, whatever a path contains.
        return messages.map(VisibleText.escape)
    }

    private static let issueLimit = 2
}
