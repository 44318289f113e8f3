import Testing

/// How large a world of the model is, and what may go wrong in it.
///
/// There are always two devices and two keys. Each device may write each key, as a value or as a removal, in
/// every state, until `writes` have been made.
struct ModelBounds: Sendable, CustomTestStringConvertible {
    /// What the devices talk to.
    enum Engine: Sendable {
        /// One daemon with its own log.
        case log
        /// Two stateless daemons on one database.
        case nodes
    }

    var name: String
    var engine = Engine.log
    var writes = 4
    /// Messages that are lost, late or doubled; streams that break.
    var faults = 0
    /// Programs killed and started again.
    var crashes = 0
    /// Tombstones that the daemon forgets.
    var forgettings = 0
    /// Connections to the database that are cut, and reads of it that are slow.
    var nodeFaults = 0
    /// Nodes killed and started again.
    var restarts = 0
    /// Failovers to a standby that may lack commits.
    var failovers = 0
    var bug: PlantedBug?
    /// Whether a device keeps a live stream; otherwise it polls when there is something new.
    var isLive = [false, false]
    /// Whether a device begins without a first download, so that its writes are provisional.
    var isFresh = [false, false]
    /// Each device's clock minus the daemon's, in milliseconds, from the first write on.
    var skew: [Int64] = [0, 0]
    /// Whether the daemon begins with a value of one key, written by another device.
    var isPopulated = false
    /// Whether all writes of a value write the same one, so that equal values meet.
    var writesEqualValues = false

    var testDescription: String { name }
}
