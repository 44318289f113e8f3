import ArgumentParser
import UsagePusher

/// What all reports of this machine's logs share.
struct LogReportOptions: ParsableArguments {
    @OptionGroup var options: ReportOptions
    @OptionGroup var reading: ReadingOptions

    var query: ReportQuery { options.query(of: reading.provider) }
    var format: ReportFormat { options.format(of: reading.provider) }
}
