internal import Foundation

/// Compares what two models say.
enum ModelDifference {
    /// What `facts` say that `others` do not, and the other way round, one sentence each, by place.
    static func between(_ facts: ModelFacts, _ others: ModelFacts, withFileAttributes: Bool = true) -> [String] {
        var values: [String: (fact: ModelFacts.Fact, value: String?, other: String?)] = [:]
        func matters(_ fact: ModelFacts.Fact) -> Bool { withFileAttributes || fact.kind != .file }
        for fact in facts.facts where matters(fact) { values["\(fact.place)\u{1F}\(fact.name)"] = (fact, fact.value, nil) }
        for fact in others.facts where matters(fact) {
            values["\(fact.place)\u{1F}\(fact.name)", default: (fact, nil, nil)].other = fact.value
        }
        var missing: Set<String> = []
        var differences: [(place: String, text: String)] = []
        let places = (Set(facts.facts.map(\.place)), Set(others.facts.map(\.place)))
        for (fact, value, other) in values.values where value != other {
            let isWhole = value == nil ? !places.0.contains(fact.place) : !places.1.contains(fact.place)
            if isWhole {
                // Whatever is not there at all is said once.
                if missing.insert(fact.place).inserted {
                    differences.append((fact.place, "\(fact.place) is only \(value == nil ? "there" : "here")."))
                }
            } else {
                differences.append((fact.place, "\(fact.place): \(fact.name) is \(value ?? "not set") here, \(other ?? "not set") there."))
            }
        }
        return differences.filter { place, _ in !missing.contains { place.hasPrefix("\($0).") || place.hasPrefix("\($0),") } }.map(\.text)
            .sorted()
    }
}

extension NSManagedObjectModel {
    /// What this model says otherwise than another, one sentence each: “Album.title: isOptional is true here, false there.”
    ///
    /// The order of entities and of properties does not matter.
    ///
    /// - Parameters:
    ///   - other: the model to compare with.
    ///   - includingFileAttributes: whether what model files say and descriptions do not (`syncable`, the places in Xcode's diagram) counts.
    /// - Returns: an empty array when they say the same.
    public func differences(from other: NSManagedObjectModel, includingFileAttributes: Bool = true) -> [String] {
        ModelDifference.between(ModelFacts(of: self), ModelFacts(of: other), withFileAttributes: includingFileAttributes)
    }
}
