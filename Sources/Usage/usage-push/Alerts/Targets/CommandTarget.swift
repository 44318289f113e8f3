import Commands
import Essentials
import OutgoingHTTP
import UsagePusher
import UsageState

/// Runs a program with the alert as JSON on its standard input.
struct CommandTarget: Sendable {
    /// The program first.
    let arguments: [String]
    let variables: [String: String]

    func deliver(_ alert: Alert, _ text: AlertText) async throws(DeliveryError) {
        guard let program = arguments.first else { throw DeliveryError("there is no program") }
        do throws(TrustedProgram.Refusal) {
            let path = program.contains("/") ? program : SearchPath(variables).path(of: program)
            // One that is not found is reported when it is run.
            if let path { try TrustedProgram.check(path) }
        } catch {
            throw DeliveryError("\(program) is not run: \(error.reason)")
        }
        let run = await ProgramRun.run(
            program, Array(arguments.dropFirst()),
            input: AlertDocument(alert, text: text).data + Data("\n".utf8), variables: variables)
        if let failure = run.failure(of: program) { throw DeliveryError(failure) }
    }
}
