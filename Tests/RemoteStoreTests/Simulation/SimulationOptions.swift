import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport

/// What the simulation has found to be wrong.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
}

/// How a run differs from others.
struct SimulationOptions {
    var rule = ConflictResolution.setAside
    var ruleName = "setAside"
    var steps = 50
    /// What is drawn from for each step: the numbers of ``SimulatedWorld``. A run that looks for one bug does mostly what shows it.
    var kinds = Array(0..<21)
    /// The share of messages that are lost.
    var losses = 0.1
    /// A bug of the clients; nil for none.
    var bug: PlantedBug.Kind?
    /// A rule that the clients do not keep; nil for none.
    var broken: CacheRule?
    /// Whether a client that dies has forgotten its last save.
    var forgetsAtCrash = false

    /// Options for a run that looks for a bug, or for a rule that is not kept.
    static func looking(for bug: PlantedBug.Kind?, without rule: CacheRule?, forgetsAtCrash: Bool) -> SimulationOptions {
        var options = SimulationOptions()
        (options.bug, options.broken, options.forgetsAtCrash) = (bug, rule, forgetsAtCrash)
        // 0 edits, 5 sends, 7 reads, 9 refreshes, 10 cuts off or connects, 11 dies, 12 lets time pass, 13 edits on the server, 15 delivers.
        switch (bug, rule) {
        case (.doubleReplay?, _), (.lostAnswerIsSuccess?, _): (options.kinds, options.losses) = ([0, 5, 15, 15], 0.4)
        case (.missingOutcomeIsSuccess?, _): options.kinds = [0, 0, 5, 15, 15]
        case (.conflictIsSuccess?, _): options.kinds = [0, 0, 5, 7, 13, 15, 15, 15]
        case (_, .newestRead?): (options.kinds, options.steps) = ([7, 9, 9, 12, 13, 15, 15, 15], 80)
        case (_, .wholeAnswer?): (options.kinds, options.steps) = ([7, 7, 13, 15, 15, 15], 80)
        case (_, .bookmark?): options.kinds = [0, 5, 7, 7, 13, 15, 15, 15]
        case (_, .folding?): options.kinds = [0, 0, 7, 13, 15, 15, 15]
        case (nil, nil): break
        }
        return options
    }

    static let rules: [(String, ConflictResolution)] = [
        ("setAside", .setAside), ("preferMine", .preferMine), ("preferTheirs", .preferTheirs), ("overwrite", .overwrite),
        ("rollback", .rollback),
    ]
}

/// The server that a run has, and how its clients use it: the seed decides.
struct SimulatedSetting: CustomStringConvertible {
    /// How the server tells that a change has come before.
    enum Service: String {
        /// By idempotency keys.
        case keys
        /// By identifiers of the clients, which look for what may have arrived.
        case uuids
        /// Not at all: of a new object whose outcome is lost, the user decides.
        case nothing
    }

    var service = Service.keys
    var versions = ScriptedBackend.Versions.numbers
    var maximumChanges = 1
    var pageSize: Int?
    /// Whether clients read what has changed, or everything.
    var readsFeed = false
    var changesPerAnswer = Int.max
    var tellsReplacements = true
    /// Whether new objects get the identifiers of deleted ones.
    var reusesIdentifiers = false
    /// Whether clients know what tells such objects apart.
    var knowsIncarnations = false
    var lags = false
    var losesOutcomes = false
    var capsAnswers = false

    init(_ random: inout SeededGenerator, _ options: SimulationOptions) {
        service = random.chance(0.6) ? .keys : random.chance(0.6) ? .uuids : .nothing
        versions = random.chance(0.5) ? .numbers : random.chance(0.7) ? .tags : .none
        maximumChanges = random.chance(0.5) ? 4 : 1
        pageSize = random.chance(0.3) ? 3 : nil
        // Where nothing tells objects with one identifier apart, little is promised. That is run where it is asked for.
        let isAll = ProcessInfo.processInfo.environment["COREDATA_SIMULATION_ALL"] != nil
        readsFeed = random.chance(0.35)
        changesPerAnswer = random.chance(0.5) ? 1 + random.below(3) : .max
        tellsReplacements = random.chance(0.7)
        knowsIncarnations = random.chance(0.6)
        reusesIdentifiers = random.chance(0.5) && service != .uuids && (isAll || knowsIncarnations && !isUnversioned)
        // Without versions, nothing tells an answer of the replica from a newer one.
        // What a change feed begins with is read from a server that has what the feed has passed.
        lags = random.chance(0.5) && !isUnversioned && !readsFeed
        losesOutcomes = random.chance(0.3)
        capsAnswers = random.chance(0.25) && !readsFeed
        switch options.bug {
        case .doubleReplay: service = .keys
        case .missingOutcomeIsSuccess: (losesOutcomes, maximumChanges) = (true, 4)
        case .conflictIsSuccess: if isUnversioned { versions = .numbers }
        case .lostAnswerIsSuccess, nil: break
        }
        switch options.broken {
        case .newestRead:
            (lags, readsFeed, versions) = (true, false, .numbers)
        case .bookmark: (readsFeed, capsAnswers) = (true, false)
        case .wholeAnswer: (capsAnswers, readsFeed) = (true, false)
        case .folding, nil: break
        }
    }

    var isUnversioned: Bool { if case .none = versions { true } else { false } }

    /// Whether a client always tells an object from another one that has got its identifier.
    var tellsIncarnations: Bool { !reusesIdentifiers || knowsIncarnations && !isUnversioned }

    var resources: [Resource] {
        let saving = Resource.Saving(
            identity: service == .uuids ? .newUUID : .assignedByBackend, maximumChanges: maximumChanges,
            conflicts: isUnversioned ? .none : .backend, isIdempotent: service == .keys)
        return Notebook.resources(saving, pageSize: pageSize).map { resource in
            var resource = resource
            if knowsIncarnations { resource.incarnation = "mark" }
            return resource
        }
    }

    func apply(to options: inout SimulatedServer.Options) {
        options.versions = versions
        options.changesPerAnswer = changesPerAnswer
        options.tellsReplacements = tellsReplacements
        options.reusesIdentifiers = reusesIdentifiers
        if lags { options.replicaLag = .seconds(5) }
        options.staleReads = lags ? 0.5 : 0
        options.missingOutcomes = losesOutcomes ? 0.5 : 0
        options.cappedAnswers = capsAnswers ? 0.3 : 0
        // What is asked for by its identifier is there or not.
        options.mayBeCapped = { $0.endpoint == "all" }
    }

    var description: String {
        var parts = ["\(service)", "\(versions)", readsFeed ? "feed of \(changesPerAnswer == .max ? 0 : changesPerAnswer)" : "fetches"]
        if let pageSize { parts.append("pages of \(pageSize)") }
        if maximumChanges > 1 { parts.append("calls of \(maximumChanges)") }
        if reusesIdentifiers { parts.append(knowsIncarnations ? "reuse that is told" : "reuse") }
        if lags { parts.append("replica") }
        if losesOutcomes { parts.append("lost outcomes") }
        if capsAnswers { parts.append("capped answers") }
        return parts.joined(separator: ", ")
    }
}
