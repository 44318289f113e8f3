import ArgumentParser
import UsagePusher

/// What all reports of this machine's logs share.
struct LogReportOptions: ParsableArguments {
    @OptionGroup var shared: ReportOptions
    @OptionGroup var reading: ReadingOptions

    var query: ReportQuery { shared.query(of: reading.provider) }
    var format: ReportFormat { shared.format(of: reading.provider) }
}
