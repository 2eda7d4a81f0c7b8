internal import Foundation
internal import ObjectGraph
internal import RemoteStore

/// Checks whether a resource that is read alone is the requested one, with the values in the list.
enum OneCheck {
    static let name = "one against list"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let call = sample.one, let list = sample.lists.first else { return [] }
        return sample.chosen.map { resource in
            Trial("\(resource.id)", call, .one) { probe in
                guard let request = sample.request(call, given: resource) else {
                    throw Trial.Untried(reason: "The list does not bring what the call must be given.")
                }
                let answer = try await probe.ask(request, sample.plan, call)
                sample.ones[resource.id] = answer
                return compared(resource, answer, call, list, sample)
                    + ValueCheck.findings(answer, call, sample) + ValueCheck.absent([answer], call, sample)
            }
        }
    }

    private static func compared(
        _ listed: TrialResource, _ answer: ProbeAnswer, _ call: CallPlan, _ list: ListReading, _ sample: EntitySample
    ) -> [CapabilityFinding] {
        func finding(_ asked: String, _ claim: String, _ seen: String, _ advice: String) -> CapabilityFinding {
            sample.finding(.one, name, call, asked, claim: claim, seen: seen, request: answer.request, advice: advice)
        }
        guard answer.unreadable.isEmpty else { return [] }
        guard let found = answer.resources.first else {
            return [
                finding(
                    "a listed resource", sample.claims.call(list.call),
                    "\(listed.id) is in the list, and does not exist when it is asked for.",
                    "Describe a list without what was deleted, such as by a parameter of its path, or correct the path of the call.")
            ]
        }
        guard found.id == listed.id else {
            let isForm = found.id.isSame(as: listed.id)
            return [
                finding(
                    "the identifier", sample.claims.call(call),
                    isForm
                        ? "\(listed.id) is \(listed.id.formName) in the list, and \(found.id) is \(found.id.formName) here: one resource would be two objects."
                        : "\(found.id) came, and \(listed.id) was asked for.",
                    isForm ? "Write \(listed.id.cure(for: found.id)) for the resource." : "Correct the path of the call.")
            ]
        }
        let types = sample.backend.service.model.entitiesByName[listed.entity]
        let differing = listed.values.keys.sorted().compactMap { property -> CapabilityFinding? in
            guard let left = listed.values[property], let right = found.values[property] else { return nil }
            let isOrdered = types?.relationshipsByName[property]?.isOrdered ?? false
            guard !left.agrees(with: right, isOrdered: isOrdered) else { return nil }
            let isAttribute = sample.plan.properties[property]?.isAttribute ?? true
            return finding(
                property, sample.claims.property(property, orStyle: isAttribute ? "attributes" : "references"),
                "\(listed.id) has \(left.shown) in the list, and \(right.shown) here.",
                left.isNull || right.isNull
                    ? "Leave “\(property)” out of the properties of the call that does not know it."
                    : "Find out which of both is right, and leave “\(property)” out of the properties of the other call.")
        }
        return differing + version(listed, found, call, answer, sample)
    }

    private static func version(
        _ listed: TrialResource, _ found: TrialResource, _ call: CallPlan, _ answer: ProbeAnswer, _ sample: EntitySample
    ) -> [CapabilityFinding] {
        guard sample.plan.version != .eTag, let left = listed.version, let right = found.version, left != right else { return [] }
        return [
            sample.finding(
                .version, name, call, "the version", claim: sample.claims.version(),
                seen: "\(listed.id) has \(VersionCheck.shown(left)) in the list, and \(VersionCheck.shown(right)) here.",
                request: answer.request,
                advice: "Name the place of a version that both answers have.")
        ]
    }
}

/// Checks whether a request for a missing resource is answered as such.
enum MissingCheck {
    static let name = "a missing resource"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let call = sample.one, let known = sample.resources.last, let id = unknown(known.id, sample) else { return [] }
        return [
            Trial("\(id)", call, .one) { probe in
                let missing = TrialResource(id, entity: known.entity, values: known.values)
                guard let request = sample.request(call, given: missing) else {
                    throw Trial.Untried(reason: "The list does not bring what the call must be given.")
                }
                func finding(_ seen: String, _ request: String, _ advice: String) -> [CapabilityFinding] {
                    [
                        sample.finding(
                            .one, name, call, "a resource that does not exist", claim: sample.claims.call(call), seen: seen,
                            request: request,
                            advice: advice)
                    ]
                }
                let answer: ProbeAnswer
                do { answer = try await probe.ask(request, sample.plan, call) } catch let refusal as ServiceProbe.Refusal
                    where !refusal.mayPass
                {
                    return finding(
                        "It failed with \(refusal.status), where 404 or 410 says that there is none: \(refusal.error.localizedDescription)",
                        refusal.request, "A deleted resource would be an error that stays. Have the service answer 404.")
                }
                guard let found = answer.resources.first, found.id != id else { return [] }
                return finding("\(found.id) came, and \(id) was asked for.", answer.request, "Correct the path of the call.")
            }
        ]
    }

    /// Returns an identifier of the same form that no known resource has.
    private static func unknown(_ id: ResourceID, _ sample: EntitySample) -> ResourceID? {
        let candidate: ResourceID
        switch id {
        case .integer:
            let largest =
                sample.resources.compactMap { resource -> Int64? in if case .integer(let number) = resource.id { number } else { nil } }
                .max() ?? 0
            guard largest < Int64(Int32.max) - 1_000_003 else { return nil }
            candidate = .integer(largest + 1_000_003)
        case .uuid: candidate = .uuid(UUID(uuidString: "7d9f7f0e-3b0c-4c55-9a86-0c6d1f0f5e21") ?? UUID())
        case .string(let text): candidate = .string(String(text.map(next)))
        case .composite(let parts):
            guard let last = parts.last, let other = unknown(last, sample) else { return nil }
            candidate = .composite(parts.dropLast() + [other])
        }
        return sample[candidate] == nil ? candidate : nil
    }

    /// Returns another letter or digit: identifiers may need a certain length and alphabet.
    private static func next(_ character: Character) -> Character {
        switch character {
        case "0"..."8", "a"..."y", "A"..."Y":
            character.asciiValue.map { Character(Unicode.Scalar($0 + 1)) } ?? character
        case "9": "0"
        case "z": "a"
        case "Z": "A"
        default: character
        }
    }
}
