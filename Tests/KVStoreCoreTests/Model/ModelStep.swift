/// One thing that can happen next in a world.
enum ModelStep: Sendable, Equatable {
    case device(Int, DeviceStep)
    /// The daemon receives the device's request and answers it.
    case requestArrives(Int)
    case streamOpens(Int)
    /// The daemon puts the next change on the device's stream.
    case streamDelivers(Int)
    case node(Int, NodeStep)
    case database(DatabaseStep)

    // Faults.

    /// The device's request fails: it never arrived, or its answer is lost.
    case roundTripIsLost(Int)
    /// The device's request fails, and arrives at some time after all.
    case requestIsLate(Int)
    /// The request arrives, and arrives again at some time.
    case requestIsDoubled(Int)
    case strayArrives(Int)
    case streamBreaks(Int)
    /// The program is killed and restarted; what it had sent is lost, or arrives at some time.
    case crash(Int, requestSurvives: Bool)
    case tombstoneIsForgotten(key: Int)

    /// Whether the step happens by itself in the normal course of events.
    var isProgress: Bool {
        switch self {
        case .device(_, .write): false
        case .device, .requestArrives, .streamOpens, .streamDelivers, .strayArrives: true
        case .node(_, let step): !step.isFault
        case .database(.lateTransactionExecutes): true
        default: false
        }
    }
}

/// An input of a replica.
enum DeviceStep: Sendable, Equatable {
    case write(key: Int, removes: Bool)
    case answerArrives
    case poll
    case wake
    case eventArrives
}
