internal import Foundation

/// Compares the content of two models.
package enum ModelDifference {
    /// Returns a sentence for each difference between two sets of facts, ordered by place.
    package static func between(_ facts: ModelFacts, _ others: ModelFacts, withFileAttributes: Bool = true) -> [String] {
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
                // A missing element is reported once.
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
    /// Returns the differences from another model, one sentence each: “Album.title: isOptional is true here, false there.”
    ///
    /// The order of entities and of properties does not matter.
    ///
    /// - Parameters:
    ///   - other: The model to compare with.
    ///   - includingFileAttributes: Whether to compare data of model files that descriptions do not have (`syncable`, positions in
    ///     Xcode's diagram).
    /// - Returns: The differences; an empty array when the models are equal.
    public func differences(from other: NSManagedObjectModel, includingFileAttributes: Bool = true) -> [String] {
        ModelDifference.between(ModelFacts(of: self), ModelFacts(of: other), withFileAttributes: includingFileAttributes)
    }
}

extension ModelDifference {
    /// Returns a sentence for each difference between two models that affects stores: “Album.title: isOptional is true here, false there.”
    package static func persistent(_ model: NSManagedObjectModel, _ other: NSManagedObjectModel) -> [String] {
        between(ModelFacts(of: model).ofStores, ModelFacts(of: other).ofStores)
    }
}
