package pdk

// Setting is the value of one of the service's settings, such as GANTRY_STOCK_BASE_URL. The manifest must list the name under
// config; false means that it does not, or that the host has no such setting.
func Setting(name string) (string, bool) { return setting(name) }
