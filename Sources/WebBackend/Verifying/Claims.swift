internal import RemoteStore

/// Names the places of claims in a description, by the keys of its file: `style.paging.total`, `resources.Album.calls.list.filters`.
struct Claims {
    let service: WebService
    let plan: ResourcePlan

    private var own: WebResource? { service.resource(plan.entity) }

    /// Returns the place of a call.
    func call(_ call: CallPlan) -> String {
        (own?.calls == nil ? "style.calls." : "resources.\(plan.entity).calls.") + call.call.name
    }

    /// Returns the place of a part of a call's pages.
    func paging(_ call: CallPlan, _ key: String, _ value: String? = nil) -> String {
        (call.call.paging == nil ? "style.paging." : self.call(call) + ".paging.") + key + Self.shown(value)
    }

    /// Returns the place of the claim that a list can be filtered by a comparison.
    func filter(_ call: CallPlan, _ parameter: Parameter, _ comparison: Parameter.Operator) -> String {
        if let custom = call.parameters[parameter.name] {
            return self.call(call) + ".parameters" + Self.shown(custom.templates[comparison])
        }
        let isList = parameter.keyPaths.first?.hasPrefix("ANY ") ?? false
        let filters = plan.style.filters
        let template = isList ? (filters.listTemplates ?? filters.templates)[comparison] : filters.templates[comparison]
        let form = "style.filters.\(comparison)" + Self.shown(template)
        return call.call.filters == nil ? form : self.call(call) + ".filters, as \(form)"
    }

    /// Returns the place of the claim that a list can be sorted.
    func order(_ call: CallPlan) -> String {
        call.call.sorting == nil
            ? "style.sorting" + Self.shown(plan.style.sorting.parameter) : self.call(call) + ".sorting"
    }

    /// Returns the place that describes the form or path of a property: its own, or that of the style.
    func property(_ name: String, orStyle key: String) -> String {
        own?.properties[name] == nil ? "style.\(key), for “\(name)”" : "resources.\(plan.entity).properties.\(name)"
    }

    /// Returns the place that lists the properties of a call.
    func brought(_ call: CallPlan, _ name: String) -> String {
        self.call(call)
            + (call.call.properties == nil
                ? ".properties, which brings all that it does not leave out, also “\(name)”" : ".properties: \(name)")
    }

    /// Returns the place that describes versions.
    func version() -> String {
        let value: String =
            switch plan.version {
            case .none: "none"
            case .eTag: "eTag"
            case .number(let path): "number:\(path)"
            case .tag(let path): "tag:\(path)"
            }
        return (own?.version == nil ? "style.version" : "resources.\(plan.entity).version") + Self.shown(value)
    }

    private static func shown(_ value: String?) -> String { value.map { ": \($0)" } ?? "" }
}
