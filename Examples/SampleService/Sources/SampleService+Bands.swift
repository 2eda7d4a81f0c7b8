extension SampleService {
    /// The bands of the service, with their albums and tracks, by ascending identifier. They are the same in every service and never
    /// change, so tests can compare fetched objects with them.
    public static var bands: [SampleBand] {
        BandCatalog.shared.bands
    }
}
