internal import JSONReading
internal import ObjectGraph
internal import RemoteStore

/// Checks whether answers have the described properties, in the described form.
enum ValueCheck {
    static let name = "values"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.map { list in
            Trial("all resources", list.call, .value) { _ in
                list.pages.flatMap { findings($0, list.call, sample) } + absent(list.pages, list.call, sample)
            }
        }
    }

    /// Returns the findings about the resources of an answer to any request.
    static func findings(_ answer: ProbeAnswer, _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        unreadable(answer, call, sample) + dates(answer, call, sample) + identifiers(answer, call, sample) + words(answer, call, sample)
    }

    // MARK: What cannot be read

    private static func unreadable(_ answer: ProbeAnswer, _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        guard let first = answer.unreadable.first else { return [] }
        let text = "\(first)"
        let property = sample.plan.properties.keys.sorted().first { text.contains("“\($0)” of “\(sample.plan.entity)”") }
        let isAttribute = property.flatMap { sample.plan.properties[$0]?.isAttribute } ?? true
        return [
            sample.finding(
                .value, name, call, property ?? "the identifier",
                claim: property.map { sample.claims.property($0, orStyle: isAttribute ? "attributes" : "references") }
                    ?? "style.identity: \(sample.plan.identity.joined(separator: ", "))",
                seen: "\(answer.unreadable.count) of \(answer.items.count) resources cannot be read: \(text)", request: answer.request,
                advice: "Describe how the service writes it (as, reference, path), or change the type in the model.")
        ]
    }

    // MARK: What is not there

    /// Returns findings for the properties that answers should have and that resources lack.
    static func absent(_ answers: [ProbeAnswer], _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        guard !sample.plan.style.omitsNil else { return [] }
        let items = answers.flatMap(\.items)
        let values = ResourceValues(service: sample.backend.service.plans)
        return sample.properties(of: sample.plan.entity).compactMap { property in
            guard let path = property.path, call.call.properties?.contains(property.name) ?? true else { return nil }
            let lacking = items.filter { $0.object != nil && $0.value(at: path) == nil }
            guard let first = lacking.first else { return nil }
            let example = values.identifier(first, sample.plan).map { ", such as \($0)" } ?? ""
            let isAll = lacking.count == items.count
            return sample.finding(
                .value, name, call, property.name, claim: sample.claims.brought(call, property.name),
                seen: "\(lacking.count) of \(items.count) resources lack it\(example): it stays unknown, and is asked for when it is read.",
                request: answers.first { $0.items.contains(first) }?.request ?? "",
                advice: isAll
                    ? "Leave it out of the call's properties, or correct its path."
                    : "Say omitsNil where resources lack what is nil, or leave it out of the call's properties.")
        }
    }

    // MARK: Dates

    private static func dates(_ answer: ProbeAnswer, _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        sample.properties(of: sample.plan.entity).compactMap { property in
            guard let path = property.path, let (form, key) = dateForm(property) else { return nil }
            let found = answer.items.compactMap { $0.value(at: path) }.compactMap { key == nil ? $0 : $0[key ?? ""] }
            guard let (example, seen, advice) = DateSample(found, form).contradiction else { return nil }
            return sample.finding(
                .value, name, call, property.name, claim: sample.claims.property(property.name, orStyle: "dates"),
                seen: "\(example): \(seen)", request: answer.request, advice: advice)
        }
    }

    /// Returns the form of a property's dates, and the key of the object around them.
    private static func dateForm(_ property: PropertyPlan) -> (DateForm, key: String?)? {
        guard case .attribute(.dateAttributeType, let transform) = property.kind else { return nil }
        switch transform {
        case .byType: return (property.dates.form, property.dateWrapping?.key)
        case .date(let form): return (form, nil)
        case .wrapped(let key, _, .date(let form)): return (form, key)
        default: return nil
        }
    }

    // MARK: Enumerations

    /// Returns findings for enumerations whose words can be read, and would be written in another form than the service's.
    private static func words(_ answer: ProbeAnswer, _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        guard sample.plan.saving != nil else { return [] }
        return sample.properties(of: sample.plan.entity).compactMap { property in
            guard !property.isReadOnly, let path = property.path, let known = property.transform.enumerated?.map(\.word) else { return nil }
            if case .wrapped = property.transform { return nil }
            let other = answer.items.lazy.compactMap { $0.value(at: path) }.first { found in
                !known.contains(found) && known.contains { ($0.string ?? $0.description) == (found.string ?? found.description) }
            }
            guard let other else { return nil }
            return sample.finding(
                .value, name, call, property.name, claim: sample.claims.property(property.name, orStyle: "attributes"),
                seen: "\(other) came, and a change would send \(other.string ?? JSONValue.string(other.description).description).",
                request: answer.request,
                advice: other.string == nil
                    ? "Write the key without quotation marks in YAML, or enumerationOfJSON in JSON."
                    : "Write the key in quotation marks: {enumeration: {\(other): …}}.")
        }
    }

    // MARK: Identifiers

    private static func identifiers(_ answer: ProbeAnswer, _ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        guard sample.plan.identity.count == 1, sample.plan.identifier == nil, let path = sample.plan.identity.first, !path.hasPrefix("@")
        else { return [] }
        let found = answer.items.compactMap { $0.value(at: JSONPath(path)) }
        guard let text = found.first(where: { $0.string != nil }), let number = found.first(where: { $0.integer != nil }) else { return [] }
        return [
            sample.finding(
                .value, name, call, "the identifier", claim: "style.identity: \(path)",
                seen: "\(text) is text, and \(number) a number: one resource would be two objects.", request: answer.request,
                advice: "Say identifier: string or identifier: integer for the resource.")
        ]
    }
}

/// The dates of a service, and their described form.
struct DateSample {
    private let values: [JSONValue]
    private let form: DateForm

    init(_ values: [JSONValue], _ form: DateForm) { (self.values, self.form) = (values, form) }

    /// A value in another form, the observation, and the advice; nil if there is none.
    var contradiction: (example: String, seen: String, advice: String)? {
        switch form {
        case .iso8601:
            for text in values.compactMap(\.string) {
                if text.count <= 10 {
                    return (text, "It has no time, which is taken for midnight UTC.", "Describe the property as date:day.")
                }
                let clock = text.dropFirst(10)
                if !clock.contains(where: { "Zz+-".contains($0) }) {
                    return (
                        text, "It says of no zone, and is taken for UTC.",
                        "Describe the property by a pattern where the times are UTC; otherwise have the service write the offset."
                    )
                }
            }
            return nil
        case .day:
            return values.compactMap(\.string).first { $0.count > 10 }.map {
                ($0, "It has a time, and a change would send the day without it.", "Describe the property as date:iso8601.")
            }
        case .millisecondsSince1970:
            // As milliseconds, all of them would be within the first two months of 1970.
            let numbers = values.compactMap(\.double).filter { $0 != 0 }
            // Bounded: a fraction, of which each has its opposite.
            guard let largest = numbers.max(), largest > 1e8, numbers.allSatisfy({ abs($0) < 5e9 }) else { return nil }
            return (shown(largest), "The numbers look like seconds since 1970.", "Describe the property as date:secondsSince1970.")
        case .secondsSince1970, .secondsSinceReferenceDate:
            // As seconds, they would be after the year 5000.
            guard let largest = values.compactMap(\.double).max(), largest > 1e11 else { return nil }
            return (
                shown(largest), "The number looks like milliseconds since 1970.", "Describe the property as date:millisecondsSince1970."
            )
        case .http, .pattern: return nil
        }
    }

    private func shown(_ number: Double) -> String { JSONValue.number(number).description }
}
